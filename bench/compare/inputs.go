package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/helm-checksum/helm-checksum/internal/genstream"
	"github.com/helm-checksum/helm-checksum/internal/realhelm"
)

// An input is a row of the table: one stream, or several of which the median counts.
type input struct {
	title   string
	shape   genstream.Shape // of a generated one
	nominal int             // its bytes, as asked for
	rounds  int
	streams []stream
}

// A stream is a file of rendered manifests.
type stream struct {
	file          string
	size          int64
	kustomization string   // a directory that has it as its resource; "" to leave kustomize out
	helmArgs      []string // that render it; nil if no chart is at hand
}

// kustomizeUpTo is the largest input that kustomize is run on: it takes minutes beyond.
const kustomizeUpTo = 1_500_000

// gather makes the inputs. Its notes say what is missing.
func gather(work string, b *built, quick bool) (inputs []input, notes []string, err error) {
	charts, note, err := chartInputs(work, b, quick)
	if err != nil {
		return nil, nil, err
	}
	if note != "" {
		notes = append(notes, note)
	}
	inputs = append(inputs, charts...)
	corpus, err := corpusInput(work, quick)
	if err != nil {
		return nil, nil, err
	}
	if len(corpus.streams) > 0 {
		inputs = append(inputs, corpus)
	} else {
		notes = append(notes, "There was no corpus of public charts' streams, so that row and its budget are missing.")
	}
	if quick {
		notes = append(notes, "This was a quick run: few rounds of all but 10 MB, a small sample, no 100 MB, and kustomize on the small inputs alone.")
	}
	for _, shape := range genstream.Shapes() {
		for _, size := range []struct {
			mb            string
			bytes, rounds int
		}{{"0.1", 100_000, 21}, {"1", 1_000_000, 15}, {"10", 10_000_000, 21}, {"100", 100_000_000, 5}} {
			if quick && size.bytes > 10_000_000 {
				continue
			}
			in := input{title: string(shape) + ", " + size.mb + " MB", shape: shape, nominal: size.bytes, rounds: size.rounds}
			if quick && size.bytes < 10_000_000 {
				in.rounds = 3 // the budgets are about 10 MB
			}
			file := filepath.Join(work, fmt.Sprintf("%s-%s.yaml", shape, size.mb))
			if err := generate(file, shape, size.bytes); err != nil {
				return nil, nil, err
			}
			s, err := newStream(work, file, !quick || size.bytes < 1_000_000)
			if err != nil {
				return nil, nil, err
			}
			in.streams = []stream{s}
			inputs = append(inputs, in)
		}
	}
	return inputs, notes, nil
}

func generate(file string, shape genstream.Shape, size int) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	if err := genstream.Write(f, shape, size, 1); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// chartInputs returns an input for all the project's charts, each rendered by helm.
func chartInputs(work string, b *built, quick bool) (_ []input, note string, err error) {
	charts, err := filepath.Glob(filepath.Join("charts-testdata", "*", "Chart.yaml"))
	if err != nil {
		return nil, "", err
	}
	if len(charts) == 0 {
		return nil, "There were no charts in charts-testdata, so that row is missing.", nil
	}
	bin, err := realhelm.Path(3)
	if err != nil {
		return nil, "", err
	}
	b.command[helm] = []string{bin}
	in := input{title: "charts of this project", rounds: 7}
	if quick {
		in.rounds = 1
	}
	var without []string
	for _, chart := range charts {
		chart = filepath.Dir(chart)
		args := []string{"template", "rel", chart, "--namespace", "prod"}
		out, err := exec.Command(bin, args...).Output()
		if err != nil || len(out) == 0 {
			without = append(without, filepath.Base(chart))
			continue
		}
		file := filepath.Join(work, "chart-"+filepath.Base(chart)+".yaml")
		if err := os.WriteFile(file, out, 0o600); err != nil {
			return nil, "", err
		}
		s, err := newStream(work, file, true)
		if err != nil {
			return nil, "", err
		}
		s.helmArgs = args
		in.streams = append(in.streams, s)
	}
	if len(without) > 0 {
		note = "Charts that `helm template` does not render with their defaults are left out: " + strings.Join(without, ", ") + "."
	}
	if len(in.streams) == 0 {
		return nil, note, nil
	}
	return []input{in}, note, nil
}

// corpusInput returns a sample of public charts' streams, where they are at hand.
func corpusInput(work string, quick bool) (input, error) {
	in := input{title: "public charts", rounds: 5}
	files, err := filepath.Glob(filepath.Join("..", "shared", "corpus", "helm3", "*.yaml"))
	if err != nil {
		return in, err
	}
	sample := 60
	if quick {
		sample, in.rounds = 10, 3
	}
	for i := range min(sample, len(files)) {
		s, err := newStream(work, files[i*len(files)/min(sample, len(files))], i%5 == 0)
		if err != nil {
			return in, err
		}
		in.streams = append(in.streams, s)
	}
	return in, nil
}

// newStream puts a file into a kustomization with one strategic-merge patch, which
// annotates every Deployment's pod template: the least that could stamp.
func newStream(work, file string, withKustomize bool) (stream, error) {
	info, err := os.Stat(file)
	if err != nil {
		return stream{}, err
	}
	s := stream{file: file, size: info.Size()}
	if !withKustomize || s.size > kustomizeUpTo {
		return s, nil
	}
	if s.kustomization, err = os.MkdirTemp(work, "kustomization-"); err != nil {
		return s, err
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return s, err
	}
	const patch = `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
- stream.yaml
patches:
- target:
    kind: Deployment
  patch: |
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: any
    spec:
      template:
        metadata:
          annotations:
            example.com/checksum: 45d0
`
	if err := os.WriteFile(filepath.Join(s.kustomization, "stream.yaml"), b, 0o600); err != nil {
		return s, err
	}
	return s, os.WriteFile(filepath.Join(s.kustomization, "kustomization.yaml"), []byte(patch), 0o600)
}
