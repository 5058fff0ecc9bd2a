variable "queues" {
  type = map(object({ wait = number, names = list(string) }))
  default = {
    fast = { wait = 5, names = ["a", "b"] }
    slow = { wait = 300, names = [] }
  }
}

resource "aws_sfn_state_machine" "queue" {
  for_each = var.queues
  name     = "queue-${each.key}"
  role_arn = "arn:aws:iam::123456789012:role/queue"
  definition = jsonencode({
    Comment = format("%s waits %03d s, %.1f m", title(each.key), each.value.wait, each.value.wait / 60)
    StartAt = "Wait"
    States = {
      Wait = { Type = "Wait", Seconds = each.value.wait, Next = "Names" }
      Names = {
        Type   = "Pass"
        Result = [for n in concat(each.value.names, ["last"]) : { name = n, length = length(n) }]
        End    = true
      }
    }
  })
}

resource "aws_sfn_state_machine" "numbered" {
  count      = 2
  name       = "numbered-${count.index}"
  role_arn   = "arn:aws:iam::123456789012:role/numbered"
  definition = "{\"StartAt\": \"W\", \"States\": {\"W\": {\"Type\": \"Wait\", \"Seconds\": ${(count.index + 1) * 10}, \"End\": true}}}"
}
