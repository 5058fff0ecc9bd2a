stage = "test"
wait  = 2
