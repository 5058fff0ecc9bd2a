package loopback_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/loopback"
)

const serverAddress = "127.0.0.1:8083"

func keysOf(secret string) loopback.Keys {
	return loopback.Keys{AccessKeyID: "id", SecretAccessKey: secret}
}

// setFolders gives the test a runtime and a cache folder of its own.
func setFolders(t *testing.T) (runtimeFolder, cache string) {
	t.Helper()
	runtimeFolder, cache = t.TempDir(), t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", runtimeFolder)
	switch runtime.GOOS {
	case "windows":
		t.Setenv("LocalAppData", cache)
	case "darwin":
		t.Setenv("HOME", cache)
		cache = filepath.Join(cache, "Library", "Caches")
	default:
		t.Setenv("XDG_CACHE_HOME", cache)
	}
	return runtimeFolder, cache
}

// Another process of the same user finds the keys of a running server, and none of one
// that has ended.
func TestAccessOfARunningServer(t *testing.T) {
	folder, cache := setFolders(t)
	_, err := loopback.FindAccess(serverAddress)
	require.ErrorIs(t, err, fs.ErrNotExist)
	want := loopback.Access{Keys: keysOf("secret"), Page: "http://127.0.0.1:8083/?token=t"}
	file, err := loopback.SaveAccess(serverAddress, want)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(folder, "jobpoller-serve", "127.0.0.1-8083.json"), file.Path())
	got, err := loopback.FindAccess(serverAddress)
	require.NoError(t, err)
	require.Equal(t, want, got)
	for _, other := range []string{"127.0.0.1:8084", "[::1]:8083", "127.0.0.1"} {
		_, err = loopback.FindAccess(other)
		require.ErrorIs(t, err, fs.ErrNotExist, other)
	}
	if runtime.GOOS != "windows" {
		for path, mode := range map[string]os.FileMode{file.Path(): 0o600, filepath.Dir(file.Path()): 0o700 | os.ModeDir} {
			info, err := os.Stat(path)
			require.NoError(t, err)
			require.Equal(t, mode, info.Mode(), path)
		}
	}

	// A shell without a session finds no file of the session, and the next server one of its own.
	require.NoError(t, os.Unsetenv("XDG_RUNTIME_DIR"))
	_, err = loopback.FindAccess(serverAddress)
	require.ErrorIs(t, err, fs.ErrNotExist)
	next := loopback.Access{Keys: keysOf("of the next")}
	later, err := loopback.SaveAccess(serverAddress, next)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(cache, "jobpoller-serve"), filepath.Dir(later.Path()))
	t.Setenv("XDG_RUNTIME_DIR", folder)
	require.NoError(t, os.Chtimes(file.Path(), time.Time{}, time.Now().Add(-time.Hour)))
	got, err = loopback.FindAccess(serverAddress)
	require.NoError(t, err)
	require.Equal(t, next, got, "the first server was killed, and its file is older")

	require.NoError(t, later.Remove())
	require.NoError(t, file.Remove())
	_, err = loopback.FindAccess(serverAddress)
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// What a killed server has left goes with the next start on its port, of a server of
// either kind.
func TestAccessOfAKilledServer(t *testing.T) { //nolint:paralleltest // sets the environment
	folder, _ := setFolders(t)
	killed, err := loopback.SaveAccess(serverAddress, loopback.Access{Keys: keysOf("old")})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(killed.Path()+".part", []byte("half"), 0o600))
	next, err := loopback.SaveAccess(serverAddress, loopback.Access{Keys: keysOf("new")})
	require.NoError(t, err)
	got, err := loopback.FindAccess(serverAddress)
	require.NoError(t, err)
	require.Equal(t, "new", got.SecretAccessKey)
	loopback.ForgetAccess(serverAddress)
	require.NoError(t, next.Remove(), "it is gone already")
	left, err := os.ReadDir(filepath.Join(folder, "jobpoller-serve"))
	require.NoError(t, err)
	require.Empty(t, left)
}

// Files and folders that others can have made, or can read, are neither written to nor
// believed.
func TestAccessOfStrangers(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // a list of access says who uses a folder
	}
	text, err := json.Marshal(loopback.Access{Keys: keysOf("a stranger's")})
	require.NoError(t, err)
	own := func(t *testing.T, base string) (file string) {
		t.Helper()
		folder := filepath.Join(base, "jobpoller-serve")
		require.NoError(t, os.Mkdir(folder, 0o700))
		file = filepath.Join(folder, "127.0.0.1-8083.json")
		require.NoError(t, os.WriteFile(file, text, 0o600))
		return file
	}
	const nobody = 65534
	for name, test := range map[string]struct {
		prepare func(t *testing.T, base, elsewhere string)
		refused string // what FindAccess says
		saved   bool   // whether a server can write there all the same
		root    bool   // whether only root can prepare it
	}{
		"folder of mode 0755": {prepare: func(t *testing.T, base, _ string) { require.NoError(t, os.Chmod(filepath.Dir(own(t, base)), 0o755)) }, refused: "mode 0755, so others can use it"},
		"folder of mode 0770": {prepare: func(t *testing.T, base, _ string) { require.NoError(t, os.Chmod(filepath.Dir(own(t, base)), 0o770)) }, refused: "mode 0770, so others can use it"},
		"folder is a link": {prepare: func(t *testing.T, base, elsewhere string) {
			require.NoError(t, os.Symlink(filepath.Dir(own(t, elsewhere)), filepath.Join(base, "jobpoller-serve")))
		}, refused: "is a link"},
		"folder is a file": {prepare: func(t *testing.T, base, _ string) {
			require.NoError(t, os.WriteFile(filepath.Join(base, "jobpoller-serve"), text, 0o600))
		}, refused: "not a directory"},
		"folder of another user": {prepare: func(t *testing.T, base, _ string) {
			require.NoError(t, os.Chown(filepath.Dir(own(t, base)), nobody, nobody))
		}, refused: "is another user's", root: true},
		"runtime folder of another user": {prepare: func(t *testing.T, base, _ string) {
			own(t, base)
			require.NoError(t, os.Chown(base, nobody, nobody))
		}, refused: "file does not exist", root: true},
		"file of mode 0644":    {prepare: func(t *testing.T, base, _ string) { require.NoError(t, os.Chmod(own(t, base), 0o644)) }, refused: "mode 0644, so others can use it", saved: true},
		"file of another user": {prepare: func(t *testing.T, base, _ string) { require.NoError(t, os.Chown(own(t, base), nobody, nobody)) }, refused: "is another user's", saved: true, root: true},
		"file is a link": {prepare: func(t *testing.T, base, elsewhere string) {
			file := own(t, base)
			require.NoError(t, os.Rename(file, filepath.Join(elsewhere, "keys")))
			require.NoError(t, os.Symlink(filepath.Join(elsewhere, "keys"), file))
		}, refused: "is no file", saved: true},
		"file is a folder": {prepare: func(t *testing.T, base, _ string) {
			file := own(t, base)
			require.NoError(t, os.Remove(file))
			require.NoError(t, os.Mkdir(file, 0o700))
		}, refused: "is no file", saved: true},
		"file without keys": {prepare: func(t *testing.T, base, _ string) {
			require.NoError(t, os.WriteFile(own(t, base), []byte("{}"), 0o600))
		}, refused: "has no keys", saved: true},
		"half a file": {prepare: func(t *testing.T, base, _ string) { require.NoError(t, os.WriteFile(own(t, base), text[:20], 0o600)) }, refused: "has no keys", saved: true},
		"part is a link out": {prepare: func(t *testing.T, base, elsewhere string) {
			file := own(t, base)
			require.NoError(t, os.Remove(file))
			require.NoError(t, os.Symlink(filepath.Join(elsewhere, "victim"), file+".part"))
		}, refused: "file does not exist", saved: true},
	} {
		t.Run(name, func(t *testing.T) {
			if test.root && os.Getuid() != 0 {
				return // nobody else can give a file away
			}
			base, cache := setFolders(t)
			elsewhere := t.TempDir()
			test.prepare(t, base, elsewhere)
			_, err := loopback.FindAccess(serverAddress)
			require.ErrorContains(t, err, test.refused)

			want := loopback.Access{Keys: keysOf("new")}
			file, err := loopback.SaveAccess(serverAddress, want)
			require.NoError(t, err, "the cache folder is there, too")
			into := cache
			if test.saved {
				into = base
			}
			require.Equal(t, filepath.Join(into, "jobpoller-serve"), filepath.Dir(file.Path()))
			got, err := loopback.FindAccess(serverAddress)
			require.NoError(t, err)
			require.Equal(t, want, got)
			require.NoFileExists(t, filepath.Join(elsewhere, "victim"))
			require.NoError(t, file.Remove())

			t.Setenv("XDG_CACHE_HOME", "relative")
			t.Setenv("HOME", "relative")
			file, err = loopback.SaveAccess(serverAddress, want)
			if test.saved {
				require.NoError(t, err)
				require.NoError(t, file.Remove())
				return
			}
			require.ErrorContains(t, err, "no folder can keep the keys for you alone; set XDG_RUNTIME_DIR to one that is yours: ")
		})
	}
}
