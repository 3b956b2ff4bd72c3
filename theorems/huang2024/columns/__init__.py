"""Problem (3), one query at a time: its columns, how they are listed, decided, proved.

column      the constraints of one query, and their exact solution
families    small columns, exhaustively, and random ones up to |V| = 20
texts       prefix-closed data on few tokens, exhaustively
decide      scores that a claim gives to a column, and witnesses against them
records     witnesses that say more of a solution
proof       proofs for columns of any size, step by step
hall        Hall's condition on a column
necessity   what fails without an assumption
training    what Algorithm 1 converges to
"""
