package awserror_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/awserror"
)

func TestCodesThatRefuseTheCaller(t *testing.T) {
	t.Parallel()
	for _, code := range []string{
		"AccessDenied", "AccessDeniedException", "com.amazonaws.athena#AccessDeniedException", "UnauthorizedOperation",
		"AuthorizationError", "NotAuthorized", "UnauthorizedException",
	} {
		require.True(t, awserror.IsPermissionCode(code), code)
		require.False(t, awserror.IsCredentialsCode(code), code)
	}
	for _, code := range []string{
		"ExpiredToken", "ExpiredTokenException", "UnrecognizedClientException", "InvalidClientTokenId", "InvalidAccessKeyId", "InvalidToken",
		"SignatureDoesNotMatch", "InvalidSignatureException", "MissingAuthenticationToken", "MissingAuthenticationTokenException", "AuthFailure",
	} {
		require.True(t, awserror.IsCredentialsCode(code), code)
		require.False(t, awserror.IsPermissionCode(code), code)
	}
	for _, code := range []string{"", "Exception", "ThrottlingException", "ValidationException", "ResourceNotFoundException", "RequestTimeTooSkewed"} {
		require.False(t, awserror.IsPermissionCode(code) || awserror.IsCredentialsCode(code), code)
	}
}
