package wheel_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/csv"
	"io/fs"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/archive"
	"github.com/jobpoller/jobpoller/internal/lambdabuild"
	"github.com/jobpoller/jobpoller/internal/release/wheel"
)

func TestPack(t *testing.T) {
	t.Parallel()
	r := wheel.Release{Version: "0.1.0", Time: time.Unix(1_800_000_000, 0), Readme: "# jobpoller\n", Texts: []archive.File{{Name: "LICENSE", Content: []byte("licence")}}}
	file, packed, err := r.Pack(lambdabuild.Machine{System: "linux", Architecture: "amd64"}, []byte("program"))
	require.NoError(t, err)
	require.Equal(t, "jobpoller-0.1.0-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64.whl", file)
	wheel, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	require.NoError(t, err)

	text := func(name string) string {
		text, err := fs.ReadFile(wheel, name)
		require.NoError(t, err)
		return string(text)
	}
	script, err := fs.Stat(wheel, "jobpoller-0.1.0.data/scripts/jobpoller")
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o755), script.Mode())
	require.Equal(t, `Wheel-Version: 1.0
Generator: jobpoller
Root-Is-Purelib: false
Tag: py3-none-manylinux_2_17_x86_64
Tag: py3-none-manylinux2014_x86_64
Tag: py3-none-musllinux_1_1_x86_64
`, text("jobpoller-0.1.0.dist-info/WHEEL"))
	require.Equal(t, `Metadata-Version: 2.4
Name: jobpoller
Version: 0.1.0
Summary: Check, test and build Step Functions poll loops
License-Expression: Apache-2.0
License-File: LICENSE
Requires-Python: >=3.8
Description-Content-Type: text/markdown

# jobpoller
`, text("jobpoller-0.1.0.dist-info/METADATA"))
	require.Equal(t, "licence", text("jobpoller-0.1.0.dist-info/licenses/LICENSE"))

	// The record has each file, with its sum and size.
	const record = "jobpoller-0.1.0.dist-info/RECORD"
	rows, err := csv.NewReader(strings.NewReader(text(record))).ReadAll()
	require.NoError(t, err)
	recorded := map[string][]string{}
	for _, row := range rows {
		recorded[row[0]] = row[1:]
	}
	require.Len(t, recorded, len(wheel.File))
	for _, f := range wheel.File {
		want := []string{"", ""}
		if f.Name != record {
			sum := sha256.Sum256([]byte(text(f.Name)))
			want = []string{"sha256=" + base64.RawURLEncoding.EncodeToString(sum[:]), strconv.Itoa(len(text(f.Name)))}
		}
		require.Equal(t, want, recorded[f.Name], f.Name)
	}

	file, _, err = r.Pack(lambdabuild.Machine{System: "windows", Architecture: "arm64"}, nil)
	require.NoError(t, err)
	require.Equal(t, "jobpoller-0.1.0-py3-none-win_arm64.whl", file)
	_, _, err = r.Pack(lambdabuild.Machine{System: "plan9", Architecture: "arm64"}, nil)
	require.EqualError(t, err, "there is no tag of Python for plan9/arm64")
}
