variable "statuses" {
  type    = map(string)
  default = { FAILED = "Bad", SUCCEEDED = "Good", STOPPED = "Bad" }
}

variable "limits" {
  type    = object({ polls = number, rate = optional(number, 1.5), fast = optional(bool) })
  default = { polls = 90 }
}

locals {
  ends = toset(values(var.statuses))
  wait = var.limits.fast == true ? 5 : var.limits.polls / 3
}

resource "aws_sfn_state_machine" "job" {
  name     = "job"
  role_arn = "arn:aws:iam::123456789012:role/job"
  definition = jsonencode({
    StartAt : "Wait"
    "States" = merge(
      {
        Wait = { Type = "Wait", Seconds = local.wait, Next = "Get" }
        Get = {
          Type     = "Task"
          Resource = "arn:aws:states:::aws-sdk:glue:getJobRun"
          Parameters = {
            JobName   = "a <b> & c"
            "RunId.$" = "$.id"
          }
          Retry      = [{ ErrorEquals = ["States.TaskFailed"], BackoffRate = var.limits.rate, MaxAttempts = 1 + 2 }]
          ResultPath = "$.got"
          Next       = "Done?"
        }
        "Done?" = {
          Type = "Choice"
          Choices = [for status, next in var.statuses : {
            Variable     = "$.got.JobRun.JobRunState"
            StringEquals = status
            Next         = next
          }]
          Default = "Wait"
        }
      },
      { for name in local.ends : name => name == "Good" ? { Type = "Succeed" } : { Type = "Fail" } },
    )
    TimeoutSeconds = pow(60, 2)
  })
}
