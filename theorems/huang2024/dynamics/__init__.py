"""Algorithm 1, run exactly and for long.

    literal         as the paper writes it: random embeddings, automatic differentiation
    stage1          stage 1 in closed form, and with weights on the tokens
    engine.run      stage 2 of many datasets: the one to use
    compact         F1, F2: what stage 2 needs of a dataset
    kernels         the recursion, compiled
    continuation    F4: beyond 1e5 steps, as an ordinary differential equation
    torch_engine    the recursion once more, batched in torch, on any device

F3, the moving frame: the engines store rho with W = rho + t eta u, u = W*/||W*||, since
W grows like t and its distance from the direction W* is what is asked for. It is a
change of variables, nothing is assumed; with u exact, an edge's difference of scores
grows by its slack in problem (3), which is exactly 0 on the edges that matter.
"""
