package awsjob

import (
	"bytes"
	"cmp"
	"crypto/sha1" //nolint:gosec // S3 takes it as a checksum
	"crypto/sha256"
	"encoding/base64"
	"hash"
	"hash/crc32"
	"io"
	"slices"
	"strings"

	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// finishS3 gives a request to S3 what its model does not say.
func finishS3(op *catalog.Operation, request *smithyhttp.Request) error {
	request.Header.Set("Accept-Encoding", "identity") // objects are sent as they are stored
	const named = "X-Amz-Sdk-Checksum-Algorithm"
	for _, m := range members(op) {
		if m.In == catalog.InHeader && strings.EqualFold(m.Wire, named) {
			return addChecksum(request, cmp.Or(request.Header.Get(named), "CRC32"))
		}
	}
	return nil
}

// wrapLocation gives the answer to GetBucketLocation the form of all others: it is the
// one member of the output, with nothing around it.
func wrapLocation(body []byte) []byte {
	if i := bytes.Index(body, []byte("<LocationConstraint")); i >= 0 {
		return slices.Concat([]byte("<Output>"), body[i:], []byte("</Output>"))
	}
	return body
}

// addChecksum adds the checksum of the body, which S3 requires of some requests. What
// it calculates in other ways than those below is the caller's to give.
func addChecksum(request *smithyhttp.Request, algorithm string) error {
	newHash := map[string]func() hash.Hash{
		"CRC32":  func() hash.Hash { return crc32.NewIEEE() },
		"CRC32C": func() hash.Hash { return crc32.New(crc32.MakeTable(crc32.Castagnoli)) },
		"SHA1":   sha1.New,
		"SHA256": sha256.New,
	}[algorithm]
	header := "X-Amz-Checksum-" + algorithm
	if newHash == nil || request.Header.Get(header) != "" {
		return nil
	}
	sum := newHash()
	if body := request.GetStream(); body != nil {
		if _, err := io.Copy(sum, body); err != nil {
			return err
		}
		if err := request.RewindStream(); err != nil {
			return err
		}
	}
	request.Header.Set(header, base64.StdEncoding.EncodeToString(sum.Sum(nil)))
	return nil
}

// dropEmptyPayload takes a body out of a request in XML whose input has none. The
// SDK's code writes {} for it, as JSON has it.
func dropEmptyPayload(in *input, request *smithyhttp.Request) error {
	for _, m := range members(in.call.op) {
		if m.In != catalog.InPayload || in.root.Get(in.spell(m.Name)) != nil {
			continue
		}
		without, err := request.SetStream(nil)
		if err != nil {
			return err
		}
		*request = *without
		request.Header.Del("Content-Type")
		request.ContentLength = 0
	}
	return nil
}
