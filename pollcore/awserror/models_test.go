package awserror_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
)

// answer is an error as the AWS SDK returns it.
func answer(status int, err error) error {
	return &smithyhttp.ResponseError{Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status}}, Err: err}
}

// declared returns the errors that the operations of a service declare.
func declared(service *catalog.Service) map[catalog.Error]bool {
	all := map[catalog.Error]bool{}
	for _, operation := range service.Operations {
		for _, e := range operation.Errors {
			all[e] = true
		}
	}
	return all
}

// TestEveryErrorOfEveryModelMeansTheSameInEachForm reads each error as the SDK
// returns it, as an HTTP answer and as Step Functions names it.
func TestEveryErrorOfEveryModelMeansTheSameInEachForm(t *testing.T) {
	t.Parallel()
	services, err := models.List()
	require.NoError(t, err)
	count := map[awserror.Class]int{}
	passing := map[string]bool{} // codes of errors of the caller that pass all the same
	for _, listed := range services {
		service, err := models.Load(listed.Key)
		require.NoError(t, err)
		for e := range declared(service) {
			status := e.Status
			if status == 0 { // as the JSON protocols answer
				status = http.StatusBadRequest
				if awserror.ClassifyAnswer(0, e.Shape) == awserror.Fault {
					status = http.StatusInternalServerError
				}
			}
			name := javasdk.ServiceException(service.Name)
			if e.Shape != "" {
				name = javasdk.ExceptionName(service.Name, e.Shape)
			}
			cause := fmt.Sprintf("No (now). (Service: %s, Status Code: %d, Request ID: 1) (SDK Attempt Count: 1)", service.ErrorPrefix, status)
			class := awserror.ClassifyName(service.ErrorPrefix+"."+name, cause)
			count[class]++
			for _, code := range []string{e.Shape, e.Code} {
				if code == "" {
					continue
				}
				at := fmt.Sprintf("%s: %+v", service.Key, e)
				require.Equal(t, class, awserror.ClassifyAnswer(status, code), at)
				require.Equal(t, class, awserror.ClassifyAnswer(status, "com.amazonaws#"+code+":http://internal.amazon.com/"), at)
				require.Equal(t, class, awserror.Classify(answer(status, &smithy.GenericAPIError{Code: code})), at)
				if byName := awserror.ClassifyAnswer(0, code); byName != awserror.Unknown && byName != class {
					require.Equal(t, awserror.Throttled, class, at) // a 429 says so
				}
				if class.Passes() && status < 500 && !slices.Contains([]int{http.StatusTooManyRequests, http.StatusRequestTimeout}, status) {
					passing[strings.TrimSuffix(code, "Exception")] = true
				}
			}
			switch {
			case status == http.StatusTooManyRequests:
				require.Equal(t, awserror.Throttled, class, e)
			case status >= 500 || status == http.StatusRequestTimeout:
				require.True(t, class.Passes(), e)
			case !class.Passes():
				require.Equal(t, awserror.Refused, class, e)
			}
		}
	}
	for _, class := range []awserror.Class{awserror.Throttled, awserror.Fault, awserror.Unclear, awserror.Refused} {
		require.NotZero(t, count[class], class)
	}
	require.Equal(t, passingCodes, slices.Sorted(maps.Keys(passing)), "%v", count)
}

// passingCodes are the codes that models declare with a status of the caller's
// errors, and that pass nevertheless: each new one is looked at once.
var passingCodes = []string{
	"CallbackTimeout", "ConnectorTimeout", "DependencyThrottle", "DependencyTimeout",
	"DependentServiceRequestThrottlingFault", "KMSThrottling", "KMSThrottlingFault", "KafkaTimeout",
	"KmsThrottled", "KmsThrottling", "LimitExceeded", "LimitExceededFault",
	"OperationTimeout", "PriorRequestNotComplete", "ProvisionedThroughputExceeded", "QueryTimeout",
	"RateLimitExceeded", "ReplicatedWriteConflict", "RequestLimitExceeded", "RequestThrottled",
	"ResourceProvisionedThroughputExceeded", "SlowDown", "StatementTimeout", "TaskTimedOut",
	"Throttled", "Throttling", "TooManyRequests", "TransactionConflict",
	"TransactionInProgress",
}
