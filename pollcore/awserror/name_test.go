package awserror_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/awserror"
)

func TestClassifyNames(t *testing.T) {
	t.Parallel()
	const v1 = "Rate exceeded (Service: AWSGlue; Status Code: 400; Error Code: ThrottlingException; Request ID: 1; Proxy: null)"
	v2 := func(status int) string {
		return fmt.Sprintf("Status Code: 200 (Service: Athena, Status Code: %d, Request ID: 1) (SDK Attempt Count: 1)", status)
	}
	tests := []struct {
		name, cause string
		want        awserror.Class
	}{
		{"DynamoDb.ThrottlingException", "", awserror.Throttled},
		{"Lambda.Ec2ThrottledException", v2(502), awserror.Throttled},
		{"Athena.InternalServerException", "", awserror.Fault},
		{"Athena.MetadataException", "", awserror.Unknown},
		{"Athena.MetadataException", v2(http.StatusBadRequest), awserror.Refused},
		{"Glue.OperationTimeoutException", v2(http.StatusBadRequest), awserror.Unclear},
		// The service's own exception hides the code.
		{"Athena.AthenaException", "", awserror.Unknown},
		{"Athena.AthenaException", v2(http.StatusBadRequest), awserror.Unknown},
		{"S3.S3Exception", v2(http.StatusForbidden), awserror.Unknown},
		{"S3.S3Exception", v2(http.StatusNotFound), awserror.Refused},
		{"S3.S3Exception", v2(http.StatusServiceUnavailable), awserror.Fault},
		{"Athena.AmazonAthenaException", v1, awserror.Throttled},
		{"Glue.AWSGlueException", v1, awserror.Throttled},
		{"Glue.AWSGlueException", "(Service: AWSGlue; Status Code: 400; Error Code: AccessDeniedException; Request ID: 1)", awserror.Refused},
		{"Athena.SdkClientException", "Unable to execute HTTP request", awserror.Unclear},
		{"Lambda.TooManyRequestsException", "", awserror.Throttled},
		{"Lambda.ServiceException", "", awserror.Fault},
		{"Lambda.AWSLambdaException", "", awserror.Fault},
		{"Lambda.AWSLambdaException", "(Service: AWSLambda; Status Code: 403; Error Code: AccessDeniedException; Request ID: 1)", awserror.Refused},
		{"Lambda.ClientExecutionTimeoutException", "", awserror.Unclear},
		{"Lambda.Unknown", "The cause could not be determined", awserror.Unclear},
		{"Runtime.ExitError", "RequestId: 1 Error: Runtime exited with error: exit status 1", awserror.Unclear},
		{"Sandbox.Timedout", "RequestId: 1 Error: Task timed out after 3.00 seconds", awserror.Unclear},
		{"States.Timeout", "", awserror.Unclear},
		{"States.HeartbeatTimeout", "", awserror.Unclear},
		{"States.TaskFailed", "", awserror.Unknown},
		{"States.TaskFailed", v1, awserror.Throttled},
		{"States.TaskFailed", v2(http.StatusInternalServerError), awserror.Fault},
		{"States.Permissions", "", awserror.Refused},
		{"States.Runtime", "", awserror.Unknown},
		{"States.Http.Socket", "", awserror.Unclear},
		{"States.Http.StatusCode.404", "", awserror.Refused},
		{"ApiGateway.429", "", awserror.Throttled},
		{"ApiGateway.503", "", awserror.Fault},
		{"TooManyRequestsException", "", awserror.Unknown}, // raised by a function
		{"", "", awserror.Unknown},
		{".", "(Service: ", awserror.Unknown},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, awserror.ClassifyName(tt.name, tt.cause), "%s: %s", tt.name, tt.cause)
	}
}
