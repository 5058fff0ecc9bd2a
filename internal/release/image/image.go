// Package image writes images of jobpoller serve for containers, as a layout of the OCI
// in a tar file. It needs no daemon.
package image

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"encoding/pem"
	"strconv"
	"strings"
	"time"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	oci "github.com/opencontainers/image-spec/specs-go/v1"
	"golang.org/x/crypto/x509roots/fallback/bundle"

	"github.com/jobpoller/jobpoller/internal/archive"
)

const (
	name = "jobpoller"
	// user is the one of images without root that others make, and has no name elsewhere.
	user = 65532
	home = "/var/lib/jobpoller"
	// work is where the files of --watch and --data lie, by names without a folder.
	work = "/project"
)

// Image is what the images of a release have.
type Image struct {
	// Version is the tag.
	Version string
	Time    time.Time
	// Texts are licences and notices.
	Texts []archive.File
}

// Pack writes one tag for several processors of Linux: the program for each, which must
// need no library.
func (i *Image) Pack(programs map[string][]byte) ([]byte, error) {
	var l layout
	var manifests []oci.Descriptor
	for _, architecture := range []string{"amd64", "arm64"} {
		program, wanted := programs[architecture]
		if !wanted {
			continue
		}
		manifest, err := i.addManifest(&l, architecture, program)
		if err != nil {
			return nil, err
		}
		manifests = append(manifests, manifest)
	}
	index, err := l.addJSON(oci.MediaTypeImageIndex, oci.Index{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: oci.MediaTypeImageIndex, Manifests: manifests, Annotations: i.annotations(),
	})
	if err != nil {
		return nil, err
	}
	// The first is for the OCI's tools, the second for containerd and Docker.
	index.Annotations = map[string]string{oci.AnnotationRefName: i.Version, "io.containerd.image.name": name + ":" + i.Version}
	top, err := json.Marshal(oci.Index{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: oci.MediaTypeImageIndex, Manifests: []oci.Descriptor{index},
	})
	if err != nil {
		return nil, err
	}
	version, err := json.Marshal(oci.ImageLayout{Version: oci.ImageLayoutVersion})
	if err != nil {
		return nil, err
	}
	l.files = append(l.files, archive.File{Name: oci.ImageIndexFile, Content: top}, archive.File{Name: oci.ImageLayoutFile, Content: version})
	return archive.Tar(i.Time, l.files...)
}

// annotations are what registries show.
func (i *Image) annotations() map[string]string {
	return map[string]string{
		oci.AnnotationTitle: name, oci.AnnotationVersion: i.Version, oci.AnnotationLicenses: "Apache-2.0",
		oci.AnnotationDescription: "AWS Step Functions on your machine: jobpoller serve",
	}
}

// addManifest adds the image for a processor.
func (i *Image) addManifest(l *layout, architecture string, program []byte) (oci.Descriptor, error) {
	root, err := i.root(program)
	if err != nil {
		return oci.Descriptor{}, err
	}
	packed, err := archive.Gzip(root)
	if err != nil {
		return oci.Descriptor{}, err
	}
	layer := l.add(oci.MediaTypeImageLayerGzip, packed)
	created := i.Time.UTC()
	platform := oci.Platform{Architecture: architecture, OS: "linux"}
	config, err := l.addJSON(oci.MediaTypeImageConfig, oci.Image{
		Created: &created, Platform: platform,
		Config: oci.ImageConfig{
			User: strconv.Itoa(user) + ":" + strconv.Itoa(user), ExposedPorts: map[string]struct{}{"8083/tcp": {}},
			Env:        []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + home},
			Entrypoint: []string{name, "serve", "--listen", "0.0.0.0"}, WorkingDir: work, Labels: i.annotations(), StopSignal: "SIGTERM",
		},
		RootFS:  oci.RootFS{Type: "layers", DiffIDs: []digest.Digest{digest.FromBytes(root)}},
		History: []oci.History{{Created: &created, CreatedBy: "make release"}},
	})
	if err != nil {
		return oci.Descriptor{}, err
	}
	manifest, err := l.addJSON(oci.MediaTypeImageManifest, oci.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: oci.MediaTypeImageManifest, Config: config, Layers: []oci.Descriptor{layer},
	})
	manifest.Platform = &platform
	return manifest, err
}

// layout collects the blobs.
type layout struct{ files []archive.File }

func (l *layout) add(mediaType string, content []byte) oci.Descriptor {
	sum := digest.FromBytes(content)
	l.files = append(l.files, archive.File{Name: oci.ImageBlobsDir + "/" + sum.Algorithm().String() + "/" + sum.Encoded(), Content: content})
	return oci.Descriptor{MediaType: mediaType, Digest: sum, Size: int64(len(content))}
}

func (l *layout) addJSON(mediaType string, value any) (oci.Descriptor, error) {
	text, err := json.Marshal(value)
	return l.add(mediaType, text), err
}

// root is the file system: the program, the roots that TLS trusts, folders that can be
// written, the user's name, and the texts.
func (i *Image) root(program []byte) ([]byte, error) {
	const (
		forAll, executable = 0o644, 0o755
		private, shared    = 0o700, 0o1777
	)
	type entry struct {
		name    string
		mode    int64
		owner   int
		content []byte
	}
	entries := []entry{
		{name: "etc/", mode: executable},
		{name: "etc/group", mode: forAll, content: []byte("root:x:0:\nnonroot:x:65532:\n")},
		{name: "etc/passwd", mode: forAll, content: []byte("root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:" + home + ":/sbin/nologin\n")},
		{name: "etc/ssl/", mode: executable},
		{name: "etc/ssl/certs/", mode: executable},
		{name: "etc/ssl/certs/ca-certificates.crt", mode: forAll, content: certificates()},
		{name: "tmp/", mode: shared},
		{name: "usr/", mode: executable},
		{name: "usr/local/", mode: executable},
		{name: "usr/local/bin/", mode: executable},
		{name: "usr/local/bin/" + name, mode: executable, content: program},
		{name: "usr/share/", mode: executable},
		{name: "usr/share/doc/", mode: executable},
		{name: "usr/share/doc/" + name + "/", mode: executable},
	}
	for _, t := range i.Texts {
		entries = append(entries, entry{name: "usr/share/doc/" + name + "/" + t.Name, mode: forAll, content: t.Content})
	}
	entries = append(entries,
		entry{name: "var/", mode: executable}, entry{name: "var/lib/", mode: executable},
		entry{name: strings.TrimPrefix(home, "/") + "/", mode: private, owner: user},
		entry{name: strings.TrimPrefix(work, "/") + "/", mode: executable, owner: user})
	var packed bytes.Buffer
	w := tar.NewWriter(&packed)
	for _, e := range entries {
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: e.name, Size: int64(len(e.content)), Mode: e.mode, Uid: e.owner, Gid: e.owner,
			ModTime: i.Time.UTC().Truncate(time.Second), Format: tar.FormatUSTAR,
		}
		if strings.HasSuffix(e.name, "/") {
			header.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(e.content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return packed.Bytes(), err
}

// certificates are the roots of Mozilla's list. A file cannot say that a root is trusted
// for some certificates alone, so these roots are left out.
func certificates() []byte {
	var text bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			text.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}))
		}
	}
	return text.Bytes()
}
