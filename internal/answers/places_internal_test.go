package answers

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/awscall"
)

// The flags say where the calls of a function's process go, whatever its environment
// says: a service of --aws does not go to the URL of all others, and no setting turns
// the URLs off.
func TestEndpointsOfAProcess(t *testing.T) {
	for _, tt := range []struct {
		name       string
		flags      Services
		env        []string
		athena, s3 string
		unknown    string // a service without a model
	}{
		{"a URL for all", Services{Endpoints: []string{"http://a"}}, []string{"AWS_ENDPOINT_URL_ATHENA=http://x"}, "http://a", "http://a", "http://a"},
		{"a URL for one", Services{Endpoints: []string{"athena=http://a"}}, []string{"AWS_ENDPOINT_URL_ATHENA=http://x"}, "http://a", "", ""},
		{"a URL for one, and a variable", Services{Endpoints: []string{"athena=http://a"}}, []string{"AWS_ENDPOINT_URL=http://x"}, "http://a", "http://x", "http://x"},
		{"a URL for all, AWS for one", Services{Endpoints: []string{"http://a"}, AWS: []string{"s3"}}, nil, "http://a", "", ""},
		{"and a variable", Services{Endpoints: []string{"http://a"}, AWS: []string{"s3"}}, []string{"AWS_ENDPOINT_URL=http://x"}, "http://a", "http://x", ""},
		{"and two", Services{Endpoints: []string{"http://a"}, AWS: []string{"s3"}}, []string{"AWS_ENDPOINT_URL=http://x", "AWS_ENDPOINT_URL_S3=http://y"}, "http://a", "http://y", ""},
		{"AWS for all, a URL for one", Services{Endpoints: []string{"athena=http://a"}, AWS: []string{"all"}}, nil, "http://a", "", ""},
		{"URLs are ignored", Services{Endpoints: []string{"http://a"}}, []string{"AWS_IGNORE_CONFIGURED_ENDPOINT_URLS=true"}, "http://a", "http://a", "http://a"},
		{"no flag", Services{}, []string{"AWS_ENDPOINT_URL=http://x"}, "http://x", "http://x", "http://x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.NoError(t, tt.flags.Parse())
			env, err := tt.flags.Places.Environ(append([]string{"AWS_REGION=eu-west-1", "AWS_CONFIG_FILE=/nowhere"}, tt.env...))
			require.NoError(t, err)
			for _, variable := range env {
				name, value, _ := strings.Cut(variable, "=")
				t.Setenv(name, value)
			}
			cfg, err := config.LoadDefaultConfig(t.Context())
			require.NoError(t, err)
			for service, want := range map[string]string{"Athena": tt.athena, "S3": tt.s3, "Not Yet Known": tt.unknown} {
				settings, err := awscall.SettingsOf(&cfg, service)
				require.NoError(t, err)
				if want == "" {
					require.Nil(t, settings.Base, service)
				} else {
					require.Equal(t, want, settings.Base.String(), service)
				}
			}
		})
	}
}
