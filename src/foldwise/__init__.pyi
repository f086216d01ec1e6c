"""The public names, each with the room it is imported from when first used."""

from foldwise.auto import AutoStackClassifier as AutoStackClassifier
from foldwise.auto import AutoStackRegressor as AutoStackRegressor
from foldwise.auto.tables import TableEncoder as TableEncoder
from foldwise.auto.tables import column_kinds as column_kinds
from foldwise.auto.tables import read_table as read_table
from foldwise.boost import AdaBoostClassifier as AdaBoostClassifier
from foldwise.boost import GradientBoostingClassifier as GradientBoostingClassifier
from foldwise.boost import GradientBoostingRegressor as GradientBoostingRegressor
from foldwise.boost import NewtonBoostingClassifier as NewtonBoostingClassifier
from foldwise.boost import NewtonBoostingRegressor as NewtonBoostingRegressor
from foldwise.files import load as load
from foldwise.files import save as save
from foldwise.isle import ISLEClassifier as ISLEClassifier
from foldwise.isle import ISLERegressor as ISLERegressor
from foldwise.nets import NetClassifier as NetClassifier
from foldwise.nets import NetRegressor as NetRegressor
from foldwise.paths import ForwardStagewiseClassifier as ForwardStagewiseClassifier
from foldwise.paths import ForwardStagewiseRegressor as ForwardStagewiseRegressor
from foldwise.paths import LassoPathClassifier as LassoPathClassifier
from foldwise.paths import LassoPathRegressor as LassoPathRegressor
from foldwise.report import write_report as write_report
from foldwise.resample import BaggingClassifier as BaggingClassifier
from foldwise.resample import BaggingRegressor as BaggingRegressor
from foldwise.rules import RuleFitClassifier as RuleFitClassifier
from foldwise.rules import RuleFitRegressor as RuleFitRegressor
from foldwise.stack import CalibratedClassifier as CalibratedClassifier
from foldwise.stack import EnsembleSelectionClassifier as EnsembleSelectionClassifier
from foldwise.stack import EnsembleSelectionRegressor as EnsembleSelectionRegressor
from foldwise.stack import StackingClassifier as StackingClassifier
from foldwise.stack import StackingRegressor as StackingRegressor
from foldwise.subset import AveragedCVClassifier as AveragedCVClassifier
from foldwise.subset import AveragedCVRegressor as AveragedCVRegressor
from foldwise.subset import BayesianModelAveragingClassifier as BayesianModelAveragingClassifier
from foldwise.subset import BayesianModelAveragingRegressor as BayesianModelAveragingRegressor
from foldwise.subset import BestSubsetRegressor as BestSubsetRegressor

__all__: list[str]
__version__: str
