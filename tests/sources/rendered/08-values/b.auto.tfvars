wait = 3
tags = ["a", "b"]
