package answers

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/loopback"
)

// Functions sign with the keys of their environment, else with those of the user's
// settings. Where there are none, and where everybody knows them, they get drawn ones.
func TestKeysOfLocalFunctions(t *testing.T) {
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_REGION"} {
		t.Setenv(name, "")
	}
	folder := t.TempDir()
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(folder, "none"))
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(folder, "credentials"))
	drawn := loopback.NewKeys()
	keysOf := func(s *Services, env ...string) string {
		require.NoError(t, s.Parse())
		keys, variables, err := s.FunctionKeys(t.Context(), env, drawn, false)
		require.NoError(t, err)
		require.Equal(t, keys.AccessKeyID, valueIn(variables, "AWS_ACCESS_KEY_ID"))
		require.Equal(t, keys.SecretAccessKey, valueIn(variables, "AWS_SECRET_ACCESS_KEY"))
		return keys.AccessKeyID + " in " + valueIn(variables, "AWS_REGION")
	}
	require.Equal(t, drawn.AccessKeyID+" in us-east-1", keysOf(&Services{}))
	require.Equal(t, drawn.AccessKeyID+" in eu-west-1", keysOf(&Services{Region: "eu-west-1"}, "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local"))
	require.Equal(t, "OWN in us-east-1", keysOf(&Services{}, "AWS_ACCESS_KEY_ID=OWN", "AWS_SECRET_ACCESS_KEY=s"))

	require.NoError(t, os.WriteFile(filepath.Join(folder, "credentials"), []byte("[default]\naws_access_key_id = FILE\naws_secret_access_key = s\n"+
		"[other]\naws_access_key_id = OTHER\naws_secret_access_key = s\n"), 0o600))
	require.Equal(t, "FILE in us-east-1", keysOf(&Services{}))
	require.Equal(t, "OTHER in us-east-1", keysOf(&Services{Profile: "other"}, "AWS_ACCESS_KEY_ID=OWN", "AWS_SECRET_ACCESS_KEY=s"))
}

// The first request loads the settings for all. One that is given up while it loads, or
// while another does, says nothing of them.
func TestSettingsAreLoadedOnce(t *testing.T) { //nolint:paralleltest // it sets variables
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "AKIAMINE", "AWS_SECRET_ACCESS_KEY": "s", "AWS_SESSION_TOKEN": "", "AWS_PROFILE": "",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
	} {
		t.Setenv(name, value)
	}
	settings := newLocalSettings(&Services{})
	ended, end := context.WithCancel(t.Context())
	end()
	_, err := settings.load(ended)
	require.ErrorIs(t, err, context.Canceled)
	settings.turn <- struct{}{}
	_, err = settings.load(ended)
	require.ErrorIs(t, err, context.Canceled)
	<-settings.turn
	for range 2 {
		cfg, err := settings.load(t.Context())
		require.NoError(t, err)
		keys, err := cfg.Credentials.Retrieve(t.Context())
		require.NoError(t, err)
		require.Equal(t, "AKIAMINE", keys.AccessKeyID)
		t.Setenv("AWS_PROFILE", "nosuch")
	}
}
