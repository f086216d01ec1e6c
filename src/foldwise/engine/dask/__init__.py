r"""Tasks on a Dask cluster, by native futures.

**A cluster is trusted.** Dask sends pickles both ways: whoever can reach the scheduler can run code
on every worker and in this process, and by default nobody is asked who they are. Let scheduler
and workers listen on loopback or a private network only, or use TLS, which also asks who is there::

    from distributed import Client
    from distributed.security import Security

    security = Security(tls_ca_file="ca.pem", tls_client_cert="me.pem", tls_client_key="me.key",
                        require_encryption=True)
    client = Client("tls://scheduler.example:8786", security=security)
    StackingRegressor(learners, executor=client).fit(X, y)

(the scheduler and workers are started with ``--tls-ca-file``, ``--tls-cert`` and ``--tls-key``).

A cluster on one machine that nobody else can reach::

    dask scheduler --host 127.0.0.1 --dashboard-address 127.0.0.1:0 --scheduler-file where.json
    dask worker --scheduler-file where.json --host 127.0.0.1 --dashboard-address 127.0.0.1:0 \\
        --nthreads 1 --nworkers 2

Workers with one thread each are best: Python's own lock and some libraries are shared by threads.
Nannies (the default) start a worker anew that a fit has killed.
"""
