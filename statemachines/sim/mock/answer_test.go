package mock_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// What a service answers has the name that Step Functions gives it: those of SDK
// integrations are seen in recordings and in facts about the SDK for Java v2, the
// others are the classes of v1.
func TestServiceFailure(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		resource, code, other string
		want                  string
	}{
		{"arn:aws:states:::aws-sdk:athena:getQueryExecution", "InvalidRequestException", "", "Athena.InvalidRequestException"},
		{"arn:aws:states:::aws-sdk:athena:getQueryExecution", "ThrottlingException", "", "Athena.AthenaException"},
		{"arn:aws:states:::aws-sdk:rds:createDBSnapshot", "DBInstanceNotFound", "", "Rds.DbInstanceNotFoundException"},
		{"arn:aws:states:::aws-sdk:rds:createDBSnapshot", "x", "DBInstanceNotFoundFault", "Rds.DbInstanceNotFoundException"},
		{"arn:aws:states:::aws-sdk:dynamodb:getItem", "ResourceNotFoundException", "", "DynamoDb.ResourceNotFoundException"},
		{"arn:aws:states:::dynamodb:getItem", "ResourceNotFoundException", "", "DynamoDB.ResourceNotFoundException"},
		{"arn:aws:states:::dynamodb:getItem", "ValidationException", "", "DynamoDB.AmazonDynamoDBException"},
		{"arn:aws:states:::athena:startQueryExecution.sync", "AccessDeniedException", "", "Athena.AmazonAthenaException"},
		{"arn:aws:states:::glue:startJobRun.sync", "EntityNotFoundException", "", "Glue.EntityNotFoundException"},
	} {
		op, err := typecheck.FindOperation(tt.resource, models.Load)
		require.NoError(t, err)
		failure := mock.ServiceFailure(tt.resource, op, mock.Answer{Code: tt.code, Other: tt.other, Message: "no"})
		require.Equal(t, tt.want, failure.Name, "%s %s", tt.resource, tt.code)
		require.Regexp(t, `^no \(Service: .*Request ID: .*\)`, failure.Cause)
	}
}
