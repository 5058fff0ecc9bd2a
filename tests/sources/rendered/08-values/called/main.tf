variable "wait" {
  type = number
}

variable "done" {
  type = string
}

variable "maybe" {
  type    = number
  default = 13
}

resource "aws_sfn_state_machine" "called" {
  name     = "called"
  role_arn = "arn:aws:iam::123456789012:role/called"
  definition = jsonencode({
    StartAt = "Wait"
    States = {
      Wait = { Type = "Wait", Seconds = var.wait, Next = "Done" }
      Done = {
        Type    = "Choice"
        Choices = [{ Variable = "$.status", StringEquals = var.done, Next = "End" }]
        Default = "Wait"
      }
      End = { Type = "Pass", Result = { maybe = var.maybe }, End = true }
    }
  })
}
