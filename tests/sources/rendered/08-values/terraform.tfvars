stage    = "test"
wait     = "2"
release  = 7
backward = "1.50"
exact    = "true"
steps    = ["1", 2]
limits   = { polls = "3", name = 5, more = "dropped" }
mixed    = { a = 1, b = "x", c = true }
numbers  = ["10", 9, "9"]
pair     = [1, "2"]
nothing  = null
kept     = null
