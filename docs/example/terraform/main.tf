terraform {
  required_version = ">= 1.6"
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "~> 6.0"
    }
  }
}

variable "name" {
  description = "Name of the state machine, and what the names of the rest start with"
  type        = string
  default     = "export-orders"

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{0,27}$", var.name))
    error_message = "A name has at most 28 lower-case letters, digits and hyphens, and a letter first."
  }
}

variable "table_arn" {
  description = "ARN of the table, which has point-in-time recovery"
  type        = string
}

variable "export_bucket" {
  description = "Name of the bucket that the table is exported to"
  type        = string
}

variable "alarm_topic_arn" {
  description = "ARN of the SNS topic that alarms go to"
  type        = string
}

data "aws_caller_identity" "current" {}
data "aws_partition" "current" {}

locals {
  # What each action that jobpoller compile --iam prints is allowed on. An action
  # that is not here makes the plan fail.
  resources = {
    "dynamodb:DescribeExport"           = "${var.table_arn}/export/*"
    "dynamodb:ExportTableToPointInTime" = var.table_arn
    "s3:AbortMultipartUpload"           = local.exported
    "s3:PutObject"                      = local.exported
    "s3:PutObjectAcl"                   = local.exported
  }
  exported = "arn:${data.aws_partition.current.partition}:s3:::${var.export_bucket}/*"
  actions  = flatten(jsondecode(file("${path.module}/export.iam.json")).Statement[*].Action)
}

resource "aws_sfn_state_machine" "export" {
  name     = var.name
  type     = "STANDARD"
  role_arn = aws_iam_role.export.arn
  definition = templatefile("${path.module}/export.asl.json", {
    TableArn     = var.table_arn
    ExportBucket = var.export_bucket
  })

  logging_configuration {
    level                  = "ERROR"
    include_execution_data = false
    log_destination        = "${aws_cloudwatch_log_group.export.arn}:*"
  }

  tracing_configuration {
    enabled = true
  }

  depends_on = [aws_iam_role_policy.export, aws_iam_role_policy.export_logs_and_traces]
}

resource "aws_iam_role" "export" {
  name_prefix = "${var.name}-"
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Action    = "sts:AssumeRole"
      Principal = { Service = "states.amazonaws.com" }
      Condition = { StringEquals = { "aws:SourceAccount" = data.aws_caller_identity.current.account_id } }
    }]
  })
}

resource "aws_iam_role_policy" "export" {
  name = "export"
  role = aws_iam_role.export.id
  policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [for action in local.actions : { Effect = "Allow", Action = action, Resource = local.resources[action] }]
  })
}

resource "aws_iam_role_policy" "export_logs_and_traces" {
  name = "logs-and-traces"
  role = aws_iam_role.export.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{ # AWS documents these on all resources
      Effect = "Allow"
      Action = [
        "logs:CreateLogDelivery",
        "logs:DeleteLogDelivery",
        "logs:DescribeLogGroups",
        "logs:DescribeResourcePolicies",
        "logs:GetLogDelivery",
        "logs:ListLogDeliveries",
        "logs:PutResourcePolicy",
        "logs:UpdateLogDelivery",
        "xray:GetSamplingRules",
        "xray:GetSamplingTargets",
        "xray:PutTelemetryRecords",
        "xray:PutTraceSegments",
      ]
      Resource = "*"
    }]
  })
}

resource "aws_cloudwatch_log_group" "export" {
  name              = "/aws/vendedlogs/states/${var.name}"
  retention_in_days = 30
}

# An export that failed, and one whose time was over.
resource "aws_cloudwatch_metric_alarm" "failed" {
  alarm_name          = "${var.name}-failed"
  alarm_description   = "An export of ${var.table_arn} has not succeeded."
  namespace           = "AWS/States"
  metric_name         = "ExecutionsFailed"
  dimensions          = { StateMachineArn = aws_sfn_state_machine.export.arn }
  statistic           = "Sum"
  period              = 300
  evaluation_periods  = 1
  threshold           = 1
  comparison_operator = "GreaterThanOrEqualToThreshold"
  treat_missing_data  = "notBreaching"
  alarm_actions       = [var.alarm_topic_arn]
}

# Step Functions is slow to go on, so the end is noticed late.
resource "aws_cloudwatch_metric_alarm" "throttled" {
  alarm_name          = "${var.name}-throttled"
  alarm_description   = "Executions that export ${var.table_arn} are throttled."
  namespace           = "AWS/States"
  metric_name         = "ExecutionThrottled"
  dimensions          = { StateMachineArn = aws_sfn_state_machine.export.arn }
  statistic           = "Sum"
  period              = 300
  evaluation_periods  = 3
  threshold           = 1
  comparison_operator = "GreaterThanOrEqualToThreshold"
  treat_missing_data  = "notBreaching"
  alarm_actions       = [var.alarm_topic_arn]
}

output "state_machine_arn" {
  value = aws_sfn_state_machine.export.arn
}
