"""What a fitted stack can tell: leaderboard, out-of-fold table, deployed learners."""
