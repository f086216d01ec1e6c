"""A hidden layer on a graphics card: bias, activation and left-out units in one pass.

Done one after the other, each reads and writes the whole layer, which takes several times as long
as the products of matrices. torch compiles these few lines itself; no compiler need be installed.
"""

from functools import cache
from typing import Any

FORTH = """
template <typename T>
T forth(T product, T bias, T bend, T drawn, T least, T larger) {
  T line = product + bias;
  T silu = line / (T(1) + exp(-line));
  return drawn >= least ? larger * (line + bend * (silu - line)) : T(0);
}
"""
BACK = """
template <typename T>
void back(T slope, T product, T bias, T bend, T drawn, T least, T larger, T& line_slope, T& bend_slope) {
  T line = product + bias;
  T share = T(1) / (T(1) + exp(-line));
  T kept = drawn >= least ? larger * slope : T(0);
  T steep = share * (T(1) + line * (T(1) - share));
  line_slope = kept * (T(1) + bend * (steep - T(1)));
  bend_slope = kept * line * (share - T(1));
}
"""  # noqa: E501


@cache
def fused_layer(torch: Any) -> Any:
    """Return the layer as a function of its product, bias, bend, and which units are left out.

    A unit is left out where the byte drawn for it is below ``least``; others become ``larger``.
    None where this torch cannot compile it.
    """
    jiterator = getattr(torch.cuda, "jiterator", None)
    if jiterator is None:
        return None
    forth = jiterator._create_jit_fn(FORTH)
    back = jiterator._create_multi_output_jit_fn(BACK, num_outputs=2)

    class Fused(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *read: Any) -> Any:
            ctx.save_for_backward(*read)
            return forth(*read)

        @staticmethod
        def backward(ctx: Any, slope: Any) -> Any:
            line, bend = back(slope, *ctx.saved_tensors)
            return line, line.sum(1, keepdim=True), bend.sum(1, keepdim=True), None, None, None

    return Fused.apply
