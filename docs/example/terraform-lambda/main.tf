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
  job = "dynamodb:ExportTableToPointInTime"

  # The functions, and what their roles allow besides start records, logs and traces.
  functions = {
    runjob = [
      { Effect = "Allow", Action = "dynamodb:ExportTableToPointInTime", Resource = var.table_arn },
      {
        Effect   = "Allow"
        Action   = ["s3:AbortMultipartUpload", "s3:PutObject", "s3:PutObjectAcl"]
        Resource = "arn:${data.aws_partition.current.partition}:s3:::${var.export_bucket}/*"
      },
    ]
    checkstatus = [
      { Effect = "Allow", Action = "dynamodb:DescribeExport", Resource = "${var.table_arn}/export/*" },
    ]
  }

  retention_days = 60
}

resource "aws_s3_bucket" "records" { # the start records
  bucket_prefix = "${var.name}-records-"
}

resource "aws_s3_bucket_public_access_block" "records" {
  bucket                  = aws_s3_bucket.records.id
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

resource "aws_s3_bucket_ownership_controls" "records" {
  bucket = aws_s3_bucket.records.id

  rule {
    object_ownership = "BucketOwnerEnforced"
  }
}

resource "aws_s3_bucket_server_side_encryption_configuration" "records" {
  bucket = aws_s3_bucket.records.id

  rule {
    apply_server_side_encryption_by_default {
      sse_algorithm = "AES256"
    }
  }
}

resource "aws_s3_bucket_lifecycle_configuration" "records" {
  bucket = aws_s3_bucket.records.id

  rule {
    id     = "expire-records"
    status = "Enabled"

    filter {}

    expiration {
      days = local.retention_days
    }
  }
}

resource "aws_s3_bucket_policy" "records" {
  bucket = aws_s3_bucket.records.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid       = "OnlyTLS"
      Effect    = "Deny"
      Principal = "*"
      Action    = "s3:*"
      Resource  = [aws_s3_bucket.records.arn, "${aws_s3_bucket.records.arn}/*"]
      Condition = { Bool = { "aws:SecureTransport" = "false" } }
    }]
  })

  depends_on = [aws_s3_bucket_public_access_block.records]
}

resource "aws_lambda_function" "function" {
  for_each = local.functions

  function_name    = "${var.name}-${each.key}"
  filename         = "${path.module}/dist/${each.key}-arm64.zip"
  source_code_hash = filebase64sha256("${path.module}/dist/${each.key}-arm64.zip")
  runtime          = "provided.al2023"
  handler          = "bootstrap"
  architectures    = ["arm64"]
  memory_size      = 128
  timeout          = 30
  role             = aws_iam_role.function[each.key].arn

  environment {
    variables = {
      JOBPOLLER_BUCKET         = aws_s3_bucket.records.id
      JOBPOLLER_JOBS           = local.job
      JOBPOLLER_RETENTION_DAYS = tostring(local.retention_days)
    }
  }

  logging_config {
    log_format = "JSON"
    log_group  = aws_cloudwatch_log_group.function[each.key].name
  }

  tracing_config {
    mode = "Active"
  }

  depends_on = [aws_iam_role_policy.function]
}

resource "aws_cloudwatch_log_group" "function" {
  for_each = local.functions

  name              = "/aws/lambda/${var.name}-${each.key}"
  retention_in_days = 30
}

resource "aws_iam_role" "function" {
  for_each = local.functions

  name_prefix = "${var.name}-"
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Action    = "sts:AssumeRole"
      Principal = { Service = "lambda.amazonaws.com" }
    }]
  })
}

resource "aws_iam_role_policy" "function" {
  for_each = local.functions

  name = each.key
  role = aws_iam_role.function[each.key].id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat(each.value, [
      { Effect = "Allow", Action = ["s3:GetObject", "s3:PutObject"], Resource = "${aws_s3_bucket.records.arn}/*" },
      { Effect = "Allow", Action = "s3:ListBucket", Resource = aws_s3_bucket.records.arn },
      {
        Effect   = "Allow"
        Action   = ["logs:CreateLogStream", "logs:PutLogEvents"]
        Resource = "${aws_cloudwatch_log_group.function[each.key].arn}:*"
      },
      { # of these actions none knows a resource
        Effect   = "Allow"
        Action   = ["xray:PutTelemetryRecords", "xray:PutTraceSegments"]
        Resource = "*"
      },
    ])
  })
}

resource "aws_sfn_state_machine" "export" {
  name     = var.name
  type     = "STANDARD"
  role_arn = aws_iam_role.export.arn
  definition = templatefile("${path.module}/export.asl.json", {
    RunJob       = aws_lambda_function.function["runjob"].arn
    CheckStatus  = aws_lambda_function.function["checkstatus"].arn
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

resource "aws_iam_role_policy" "export" { # the action that jobpoller compile --iam prints
  name = "functions"
  role = aws_iam_role.export.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "lambda:InvokeFunction"
      Resource = [for function in aws_lambda_function.function : function.arn]
    }]
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

# Whether an export runs is for a person to find out: docs/guide/operate.md.
resource "aws_cloudwatch_metric_alarm" "start_unknown" {
  alarm_name          = "${var.name}-start-unknown"
  alarm_description   = "It is not known whether an export was started."
  namespace           = "JobPoller"
  metric_name         = "StartsUnknown"
  dimensions          = { Job = local.job }
  statistic           = "Sum"
  period              = 300
  evaluation_periods  = 1
  threshold           = 1
  comparison_operator = "GreaterThanOrEqualToThreshold"
  treat_missing_data  = "notBreaching"
  alarm_actions       = [var.alarm_topic_arn]
}

# There is no alarm on Errors: a check of a running export is one.
resource "aws_cloudwatch_metric_alarm" "checks_throttled" {
  alarm_name          = "${var.name}-checks-throttled"
  alarm_description   = "Checks of exports are throttled."
  namespace           = "AWS/Lambda"
  metric_name         = "Throttles"
  dimensions          = { FunctionName = aws_lambda_function.function["checkstatus"].function_name }
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
