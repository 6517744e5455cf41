package delayq

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"prescient/prescient"
)

func jobWith(payload string) prescient.FutureJob {
	job := prescient.FutureJob{EntityName: EntityName, EntityKey: "7", JobExec: "mails", DueAt: at("13:05"), ErrorCount: 2, LastError: "no"}
	if payload != "" {
		job.Payload = json.RawMessage(payload)
	}
	return job
}

func TestThePayloadIsTheDataInBase64(t *testing.T) {
	for _, test := range []struct {
		data []byte
		want string
	}{
		{nil, `{"data":""}`},
		{[]byte{}, `{"data":""}`},
		{[]byte("hello"), `{"data":"aGVsbG8="}`},
		{[]byte{0, 0xff, 0xfe}, `{"data":"AP/+"}`},
	} {
		got, err := payloadOf(test.data)
		if err != nil || string(got) != test.want {
			t.Errorf("%q: %s, %v; want %s", test.data, got, err, test.want)
		}
	}
}

func TestAnItemIsWhatWasDelayed(t *testing.T) {
	for _, payload := range []string{
		`{"data":"aGVsbG8="}`,
		"{ \"data\" : \"aGVs\\nbG8=\\n\" }", // as TO_BASE64 of the servers breaks lines
		`{"data":"aGVsbG8=","by":"cron"}`,
	} {
		got, err := ItemOf(jobWith(payload))
		if err != nil || string(got.Data) != "hello" || got.ID != "7" || !got.ReadyTime.Equal(at("13:05")) || got.Errors != 2 || got.LastError != "no" {
			t.Errorf("%s: %+v, %v", payload, got, err)
		}
	}
}

func TestAPayloadThatIsNoDataIsAnErrorThatSaysWhy(t *testing.T) {
	for payload, says := range map[string]string{
		``:                    "absent",
		`null`:                "absent",
		`{}`:                  `want {"data":"…"} in base64`,
		`{"data":null}`:       `want {"data":"…"} in base64`,
		`{"data":"not it"}`:   "illegal base64",
		`{"data":"aGVsbG8"}`:  "illegal base64",
		`{"data":[1,2,"x"]}`:  "does not fit",
		`{"data":{"a":"b"}}`:  "does not fit",
		`"aGVsbG8="`:          "does not fit",
		`[{"data":"aGVsbG"}]`: "does not fit",
	} {
		if item, err := ItemOf(jobWith(payload)); err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "delayq mails: ") {
			t.Errorf("%s: %+v, %v; want %q in the error", payload, item, err, says)
		}
	}
}

func TestTheLongestDataFitsIntoAPayload(t *testing.T) {
	for _, n := range []int{MaxData - 1, MaxData} {
		payload, err := payloadOf(make([]byte, n))
		if err != nil || len(payload) > prescient.MaxPayload || len(payload) < prescient.MaxPayload-8 {
			t.Errorf("%d bytes: a payload of %d, %v", n, len(payload), err)
		}
	}
	_, err := payloadOf(make([]byte, MaxData+1))
	if !errors.Is(err, prescient.ErrInvalid) || !strings.Contains(err.Error(), fmt.Sprintf("%d bytes; at most %d", MaxData+1, MaxData)) {
		t.Errorf("a byte more: %v", err)
	}
}

func FuzzDataComesBackAsItIs(f *testing.F) {
	f.Add([]byte(nil))
	f.Add([]byte("hello"))
	f.Add([]byte{0, 0xff, '"', '\\'})
	f.Fuzz(func(t *testing.T, data []byte) {
		payload, err := payloadOf(data)
		if err != nil || !json.Valid(payload) {
			t.Fatalf("%q became %s, %v", data, payload, err)
		}
		item, err := ItemOf(jobWith(string(payload)))
		if err != nil || !bytes.Equal(item.Data, data) {
			t.Fatalf("%q came back as %q, %v", data, item.Data, err)
		}
	})
}

// Whatever stands in a row, by plain SQL: it is data that can be delayed again, or an error.
func FuzzAnyPayloadIsDataOrAnError(f *testing.F) {
	for _, seed := range []string{``, `null`, `{"data":"aGVsbG8="}`, `{"data":"aGVs\nbG8="}`, `{"DATA":""}`, `{"data":7}`, `[`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		item, err := ItemOf(jobWith(text))
		if err != nil {
			if err.Error() == "" || item.Data != nil {
				t.Fatalf("%q: %+v, %v", text, item, err)
			}
			return
		}
		if item.Data == nil || item.ID != "7" {
			t.Fatalf("%q: %+v", text, item)
		}
	})
}
