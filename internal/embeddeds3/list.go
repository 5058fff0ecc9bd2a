package embeddeds3

import (
	"encoding/base64"
	"encoding/xml"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// maxKeys is the length of a page.
const maxKeys = 1000

// listing is the answer of ListObjects and ListObjectsV2.
type listing struct {
	XMLName        xml.Name      `xml:"http://s3.amazonaws.com/doc/2006-03-01/ ListBucketResult"`
	Name           string        `xml:"Name"`
	Prefix         string        `xml:"Prefix"`
	Delimiter      string        `xml:"Delimiter,omitempty"`
	MaxKeys        int           `xml:"MaxKeys"`
	EncodingType   string        `xml:"EncodingType,omitempty"`
	KeyCount       int           `xml:"KeyCount"`
	IsTruncated    bool          `xml:"IsTruncated"`
	Marker         string        `xml:"Marker,omitempty"`
	NextMarker     string        `xml:"NextMarker,omitempty"`
	Token          string        `xml:"ContinuationToken,omitempty"`
	NextToken      string        `xml:"NextContinuationToken,omitempty"`
	StartAfter     string        `xml:"StartAfter,omitempty"`
	Contents       []listed      `xml:"Contents"`
	CommonPrefixes []prefixEntry `xml:"CommonPrefixes"`
}

type listed struct {
	Key          string `xml:"Key"`
	LastModified string `xml:"LastModified"`
	ETag         string `xml:"ETag"`
	Size         int    `xml:"Size"`
	StorageClass string `xml:"StorageClass"`
}

type prefixEntry struct {
	Prefix string `xml:"Prefix"`
}

func (h *handler) list(w http.ResponseWriter, r *http.Request, bucket string) error {
	if err := takes(r, "list-type", "prefix", "delimiter", "max-keys", "encoding-type", "marker", "continuation-token", "start-after", "fetch-owner"); err != nil {
		return err
	}
	q := r.URL.Query()
	second := q.Get("list-type") == "2"
	l := listing{
		Name: bucket, Prefix: q.Get("prefix"), Delimiter: q.Get("delimiter"), MaxKeys: maxKeys, EncodingType: q.Get("encoding-type"),
		Marker: q.Get("marker"), Token: q.Get("continuation-token"), StartAfter: q.Get("start-after"),
	}
	if text := q.Get("max-keys"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return failArgument("InvalidArgument", "max-keys: expected a number")
		}
		l.MaxKeys = min(n, maxKeys)
	}
	if l.EncodingType != "" && l.EncodingType != "url" {
		return failArgument("InvalidArgument", "encoding-type: expected url")
	}
	after := l.Marker
	if second {
		after = l.StartAfter
		if l.Token != "" {
			text, err := base64.RawURLEncoding.DecodeString(l.Token)
			if err != nil {
				return failArgument("InvalidArgument", "The continuation token provided is incorrect")
			}
			after = string(text)
		}
	}
	last, err := h.fill(&l, bucket, after)
	if err != nil {
		return err
	}
	if l.IsTruncated && second {
		l.NextToken = base64.RawURLEncoding.EncodeToString([]byte(last))
	} else if l.IsTruncated {
		l.NextMarker = last
	}
	if l.EncodingType == "url" {
		l.encode()
	}
	replyXML(w, http.StatusOK, l)
	return nil
}

// fill adds the keys and common prefixes that come after one, and returns the
// last of them.
func (h *handler) fill(l *listing, bucket, after string) (last string, err error) {
	return last, h.backend.scan(bucket, max(after, l.Prefix), func(key string, o *object) bool {
		rest, inside := strings.CutPrefix(key, l.Prefix)
		if !inside {
			return false
		}
		entry := key
		if folder, _, found := strings.Cut(rest, l.Delimiter); l.Delimiter != "" && found {
			entry = l.Prefix + folder + l.Delimiter
		}
		if entry <= after || entry == last {
			return true
		}
		if l.KeyCount == l.MaxKeys {
			l.IsTruncated = l.MaxKeys > 0
			return false
		}
		l.KeyCount++
		last = entry
		if entry != key {
			l.CommonPrefixes = append(l.CommonPrefixes, prefixEntry{entry})
			return true
		}
		l.Contents = append(l.Contents, listed{key, o.Modified.Format(timeForm), o.ETag, len(o.Body), "STANDARD"})
		return true
	})
}

// encode writes keys so that XML can hold them.
func (l *listing) encode() {
	for _, text := range []*string{&l.Prefix, &l.Delimiter, &l.Marker, &l.NextMarker, &l.StartAfter} {
		*text = url.QueryEscape(*text)
	}
	for i := range l.Contents {
		l.Contents[i].Key = url.QueryEscape(l.Contents[i].Key)
	}
	for i := range l.CommonPrefixes {
		l.CommonPrefixes[i].Prefix = url.QueryEscape(l.CommonPrefixes[i].Prefix)
	}
}
