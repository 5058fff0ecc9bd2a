variable "stage" {
  default = "dev"
}

variable "wait" {
  type    = number
  default = 1
}

variable "tags" {
  type    = list(string)
  default = []
}

variable "release" {
  type = string
}

variable "backward" {
  type = number
}

variable "exact" {
  type = bool
}

variable "steps" {
  type = list(number)
}

variable "limits" {
  type = object({ polls = number, name = string, rate = optional(number, "5"), deep = optional(object({ wait = optional(string, 6) }), {}), none = optional(string) })
}

variable "mixed" {
  type = map(any)
}

variable "numbers" {
  type = set(number)
}

variable "pair" {
  type = tuple([string, number])
}

variable "nothing" {
  type     = number
  default  = "8"
  nullable = false
}

variable "kept" {
  type    = number
  default = 9
}

variable "initial" {
  type    = number
  default = "10"
}

resource "aws_sfn_state_machine" "valued" {
  name     = "valued"
  role_arn = "arn:aws:iam::123456789012:role/valued"
  definition = jsonencode({
    Comment = "${var.stage}: ${join(", ", var.tags)}"
    StartAt = "Wait"
    States = {
      Wait = { Type = "Wait", Seconds = var.wait, Next = "Pass" }
      Pass = {
        Type = "Pass"
        Result = {
          release  = var.release
          backward = var.backward
          exact    = var.exact
          steps    = var.steps
          limits   = var.limits
          mixed    = var.mixed
          numbers  = var.numbers
          pair     = var.pair
          nothing  = var.nothing
          kept     = var.kept
          initial  = var.initial
        }
        End = true
      }
    }
  })
}

module "called" {
  source = "./called"
  wait   = "11"
  done   = 12
  maybe  = null
}
