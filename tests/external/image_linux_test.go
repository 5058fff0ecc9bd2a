package external_test

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	oci "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/match"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/stretchr/testify/require"
	"github.com/xeipuuv/gojsonschema"

	"github.com/jobpoller/jobpoller/internal/lambdabuild"
	"github.com/jobpoller/jobpoller/internal/release"
	"github.com/jobpoller/jobpoller/internal/release/image"
)

// user is the one of the image.
const user = 65532

// TestReleaseIsReadElsewhere builds a release for this machine: the module behind crane
// reads its image, whose program answers on port 8083, and the SBOM fits the schema of
// CycloneDX.
func TestReleaseIsReadElsewhere(t *testing.T) {
	t.Parallel()
	built := t.TempDir()
	r := release.Release{Module: filepath.Join("..", ".."), Version: "v0.1.0", Time: time.Unix(1_800_000_000, 0)}
	require.NoError(t, r.Build(t.Context(), built, lambdabuild.Host()))
	packed, err := os.ReadFile(filepath.Join(built, "jobpoller_v0.1.0_image.tar"))
	require.NoError(t, err)
	platform := oci.Platform{OS: runtime.GOOS, Architecture: runtime.GOARCH}
	images := readImages(t, packed, platform)
	root := unpackImage(t, images[0])
	config, err := images[0].ConfigFile()
	require.NoError(t, err)
	requireServes(t, root, config.Config)

	text, err := os.ReadFile(filepath.Join(built, "jobpoller_v0.1.0_sbom.cdx.json"))
	require.NoError(t, err)
	requireCycloneDX(t, text)
}

// One tag has an image for each processor.
func TestImageHasTwoProcessors(t *testing.T) {
	t.Parallel()
	i := image.Image{Version: "0.1.0", Time: time.Unix(1_800_000_000, 0)}
	packed, err := i.Pack(map[string][]byte{"arm64": []byte("for arm64"), "amd64": []byte("for amd64")})
	require.NoError(t, err)
	platforms := []oci.Platform{{OS: "linux", Architecture: "amd64"}, {OS: "linux", Architecture: "arm64"}}
	for i, found := range readImages(t, packed, platforms...) {
		program, err := os.ReadFile(filepath.Join(unpackImage(t, found), "usr/local/bin/jobpoller"))
		require.NoError(t, err)
		require.Equal(t, "for "+platforms[i].Architecture, string(program))
	}
}

// readImages checks a layout, each sum and size in it, and returns its images, which are
// those of the platforms.
func readImages(t *testing.T, packed []byte, platforms ...oci.Platform) (images []oci.Image) {
	t.Helper()
	folder := t.TempDir()
	untar(t, bytes.NewReader(packed), folder)
	top, err := layout.ImageIndexFromPath(folder)
	require.NoError(t, err)
	require.NoError(t, validate.Index(top))
	tags, err := top.IndexManifest()
	require.NoError(t, err)
	require.Len(t, tags.Manifests, 1)
	require.Equal(t, "0.1.0", tags.Manifests[0].Annotations["org.opencontainers.image.ref.name"])
	index, err := top.ImageIndex(tags.Manifests[0].Digest)
	require.NoError(t, err)
	manifests, err := index.IndexManifest()
	require.NoError(t, err)
	require.Len(t, manifests.Manifests, len(platforms))
	for _, platform := range platforms {
		found, err := partial.FindImages(index, match.Platforms(platform))
		require.NoError(t, err)
		require.Len(t, found, 1)
		images = append(images, found[0])
	}
	return images
}

// unpackImage returns the folder with the files of an image, and asks for what the page
// on serve says of it.
func unpackImage(t *testing.T, from oci.Image) (root string) {
	t.Helper()
	config, err := from.ConfigFile()
	require.NoError(t, err)
	require.Equal(t, "65532:65532", config.Config.User)
	require.Equal(t, map[string]struct{}{"8083/tcp": {}}, config.Config.ExposedPorts)
	require.Equal(t, []string{"jobpoller", "serve", "--listen", "0.0.0.0"}, config.Config.Entrypoint)

	root = t.TempDir()
	files := mutate.Extract(from)
	defer files.Close()
	require.Equal(t, map[string]int{"var/lib/jobpoller": user, "project": user}, untar(t, files, root))
	for name, mode := range map[string]os.FileMode{
		"usr/local/bin/jobpoller": 0o755, "var/lib/jobpoller": os.ModeDir | 0o700, "tmp": os.ModeDir | os.ModeSticky | 0o777,
		"etc/ssl/certs/ca-certificates.crt": 0o644,
	} {
		info, err := os.Stat(filepath.Join(root, name))
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode(), name)
	}
	roots, err := os.ReadFile(filepath.Join(root, "etc/ssl/certs/ca-certificates.crt"))
	require.NoError(t, err)
	require.True(t, x509.NewCertPool().AppendCertsFromPEM(roots))
	return root
}

// requireServes starts the program as the image says: in its files and as its user if
// this is root, who alone can do that. Only who has the server's keys may use it, and a
// program in the container tells them.
func requireServes(t *testing.T, root string, config oci.Config) {
	t.Helper()
	start := func(ctx context.Context, arguments ...string) *exec.Cmd {
		command := exec.CommandContext(ctx, filepath.Join(root, "usr/local/bin", config.Entrypoint[0]), arguments...)
		command.Dir, command.Env = filepath.Join(root, config.WorkingDir), append([]string{}, config.Env...)
		for i, v := range command.Env {
			command.Env[i] = strings.Replace(v, "HOME=/", "HOME="+root+"/", 1)
		}
		if os.Geteuid() == 0 {
			command.Path, command.Dir, command.Env = "/usr/local/bin/"+config.Entrypoint[0], config.WorkingDir, config.Env
			command.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: user, Gid: user}}
		}
		return command
	}
	var log bytes.Buffer
	server := start(t.Context(), append(config.Entrypoint[1:], "--time", "manual")...)
	server.Stdout, server.Stderr = &log, &log
	require.NoError(t, server.Start())
	ended := make(chan error, 1)
	go func() { ended <- server.Wait() }()
	// It waits until the server answers with the keys.
	environment, err := start(t.Context(), "serve", "--print-env").Output()
	if err != nil {
		_ = server.Process.Kill()
		<-ended
	}
	require.NoError(t, err, "%s", &log)
	require.Contains(t, string(environment), "export AWS_ENDPOINT_URL_SFN='http://127.0.0.1:8083'\n")
	require.Contains(t, string(environment), "export AWS_SECRET_ACCESS_KEY=")
	answer, err := http.Get("http://127.0.0.1:8083/_jobpoller/health")
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusForbidden, answer.StatusCode, "nobody signed this")
	require.NoError(t, server.Process.Signal(syscall.SIGTERM))
	require.NoError(t, <-ended, "%s", &log)
}

// untar writes files to a folder, and returns the owners other than root.
func untar(t *testing.T, from io.Reader, to string) map[string]int {
	t.Helper()
	folder, err := os.OpenRoot(to)
	require.NoError(t, err)
	defer folder.Close()
	owners := map[string]int{}
	for r := tar.NewReader(from); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return owners
		}
		require.NoError(t, err)
		name := strings.TrimSuffix(header.Name, "/")
		if header.Typeflag == tar.TypeDir {
			require.NoError(t, folder.MkdirAll(name, 0o755))
		} else {
			content, err := io.ReadAll(r)
			require.NoError(t, err)
			require.NoError(t, folder.MkdirAll(filepath.Dir(name), 0o755))
			require.NoError(t, folder.WriteFile(name, content, 0o600))
		}
		require.NoError(t, folder.Chmod(name, header.FileInfo().Mode()))
		if header.Uid != 0 {
			owners[name] = header.Uid
			if os.Geteuid() == 0 {
				require.NoError(t, folder.Chown(name, header.Uid, header.Gid))
			}
		}
	}
}

// requireCycloneDX checks an SBOM by the schema that comes with CycloneDX's own library.
func requireCycloneDX(t *testing.T, text []byte) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/CycloneDX/cyclonedx-go").Output()
	require.NoError(t, err)
	schemas := filepath.Join(strings.TrimSpace(string(out)), "schema")
	loader := gojsonschema.NewSchemaLoader()
	for _, name := range []string{"spdx.schema.json", "jsf-0.82.schemax.json"} {
		schema, err := os.ReadFile(filepath.Join(schemas, name))
		require.NoError(t, err)
		require.NoError(t, loader.AddSchemas(gojsonschema.NewBytesLoader(schema)))
	}
	schema, err := os.ReadFile(filepath.Join(schemas, "bom-1.6.schema.json"))
	require.NoError(t, err)
	compiled, err := loader.Compile(gojsonschema.NewBytesLoader(schema))
	require.NoError(t, err)
	result, err := compiled.Validate(gojsonschema.NewBytesLoader(text))
	require.NoError(t, err)
	require.Empty(t, result.Errors())

	var bill map[string]any
	require.NoError(t, json.Unmarshal(text, &bill))
	delete(bill, "bomFormat")
	result, err = compiled.Validate(gojsonschema.NewGoLoader(bill))
	require.NoError(t, err)
	require.NotEmpty(t, result.Errors(), "the schema can refuse")
}
