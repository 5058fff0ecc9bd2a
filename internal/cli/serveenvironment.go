package cli

import (
	"cmp"
	"context"
	"io"
	"strings"

	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// variable is one of an environment.
type variable struct{ name, value string }

// The variables that say where calls of AWS go.
const (
	endpointVariable        = "AWS_ENDPOINT_URL"
	stepFunctionsVariable   = "AWS_ENDPOINT_URL_SFN"
	ignoreEndpointsVariable = "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"
	// hostPrefixVariable keeps boto3 and the AWS CLI from calls of a host sync-...,
	// which does not resolve.
	hostPrefixVariable = "AWS_DISABLE_HOST_PREFIX_INJECTION"
)

// clientEnvironment is what a client needs to call the server at a URL. Credentials and
// region are made up where the user has none.
func clientEnvironment(ctx context.Context, url string, forwards bool, getenv func(string) string) []variable {
	endpoint := stepFunctionsVariable
	if forwards {
		endpoint = endpointVariable
	}
	env := []variable{{endpoint, url}, {hostPrefixVariable, "true"}}
	if getenv(ignoreEndpointsVariable) != "" {
		env = append(env, variable{ignoreEndpointsVariable, "false"})
	}
	if forwards && getenv(stepFunctionsVariable) != "" { // it would win
		env = append(env, variable{stepFunctionsVariable, url})
	}
	profile, err := config.LoadSharedConfigProfile(ctx, cmp.Or(getenv("AWS_PROFILE"), config.DefaultSharedConfigProfile))
	if err != nil {
		profile = config.SharedConfig{} // there is none
	}
	keys := profile.Credentials.HasKeys() || profile.RoleARN != "" || profile.CredentialProcess != "" || profile.SSOSessionName != "" ||
		profile.SSOStartURL != "" || profile.WebIdentityTokenFile != "" || profile.CredentialSource != "" || profile.SourceProfileName != ""
	for _, name := range []string{
		"AWS_ACCESS_KEY_ID", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI",
	} {
		keys = keys || getenv(name) != ""
	}
	if !keys {
		env = append(env, variable{"AWS_ACCESS_KEY_ID", "local"}, variable{"AWS_SECRET_ACCESS_KEY", "local"})
	}
	// The SDKs read one of the two, or the other.
	region := cmp.Or(getenv("AWS_REGION"), getenv("AWS_DEFAULT_REGION"), profile.Region)
	for _, name := range []string{"AWS_REGION", "AWS_DEFAULT_REGION"} {
		if profile.Region == "" && getenv(name) == "" {
			env = append(env, variable{name, cmp.Or(region, sim.DefaultRegion)})
		}
	}
	return env
}

// printEnvironment writes the variables for a shell.
func printEnvironment(out io.Writer, env []variable) {
	for _, v := range env {
		terminal.Fprintf(out, "export %s='%s'\n", v.name, strings.ReplaceAll(v.value, "'", `'\''`))
	}
}

// addVariables adds the variables to an environment, where they win.
func addVariables(to []string, env []variable) []string {
	for _, v := range env {
		to = append(to, v.name+"="+v.value)
	}
	return to
}
