package awserror

import "slices"

// The codes, as canonical returns them, with which services refuse a caller. Source:
// the pages "Common Errors" of the services' API references, and "Error Responses"
// of those of S3 and EC2.
var (
	permissionCodes  = []string{"accessdenied", "authorization", "notauthorized", "unauthorized", "unauthorizedoperation"}
	credentialsCodes = []string{
		"authfailure", "expiredtoken", "invalidaccesskeyid", "invalidclienttokenid", "invalidsignature", "invalidtoken",
		"missingauthenticationtoken", "signaturedoesnotmatch", "unrecognizedclient",
	}
)

// IsPermissionCode reports whether a service refuses a call with the code because
// the caller lacks a permission.
func IsPermissionCode(code string) bool { return slices.Contains(permissionCodes, canonical(code)) }

// IsCredentialsCode reports whether a service refuses a call with the code because
// the caller's credentials are missing, wrong or expired.
func IsCredentialsCode(code string) bool { return slices.Contains(credentialsCodes, canonical(code)) }
