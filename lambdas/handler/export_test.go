package handler

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// The clients of SQS and Step Functions, and what is made of their errors.
var (
	QueueError = queueError
	TaskError  = taskError
	MaxAnswers = maxAnswers

	MessageDelay = messageDelay
)

func NewSQSQueue(cfg aws.Config, url string) (Queue, error) { return newSQSQueue(cfg, url) }

func NewStepFunctions(cfg aws.Config) (Tasks, error) { return newStepFunctions(cfg) }

func (p *Handler) EndTask(ctx context.Context, token string, result *Result) (waited bool, err error) {
	return p.endTask(ctx, token, result, nil)
}

// IDOf is what the log calls a job.
var IDOf = idOf

// StoreFlags are the command's flags for the store of a location.
var StoreFlags = storeFlags
