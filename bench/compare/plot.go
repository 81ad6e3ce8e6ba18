package main

import (
	"fmt"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"

	"github.com/helm-checksum/helm-checksum/internal/genstream"
)

// plotTo draws CPU time over the size of the generated streams: helm-checksum by
// shape, and the others by their mixed stream.
func plotTo(file string, r *results) error {
	p := plot.New()
	p.Title.Text = "CPU time of the whole process"
	p.X.Label.Text, p.Y.Label.Text = "input, MB", "user and system, ms"
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.LogTicks{Prec: -1}, plot.LogTicks{Prec: -1}
	p.Legend.Top, p.Legend.Left = true, true
	p.Legend.XOffs = 18.5 * vg.Centimeter // into the room on the right
	p.Add(plotter.NewGrid())
	color := 0
	draw := func(shape genstream.Shape, of program, title string, dashes int) error {
		var points plotter.XYs
		for _, m := range r.inputs {
			if t, ok := m.cpu(of); ok && m.shape == shape {
				points = append(points, plotter.XY{X: float64(m.size) / megabyte, Y: float64(t) / float64(time.Millisecond)})
			}
		}
		if len(points) == 0 {
			return nil
		}
		line, dots, err := plotter.NewLinePoints(points)
		if err != nil {
			return fmt.Errorf("%s: %w", title, err)
		}
		line.Color, dots.Color = plotutil.Color(color), plotutil.Color(color)
		line.Dashes, dots.Shape = plotutil.Dashes(dashes), plotutil.Shape(color)
		line.Width = vg.Points(1.5)
		color++
		p.Add(line, dots)
		p.Legend.Add(title, line, dots)
		return nil
	}
	for _, of := range []program{kustomize, sha256sum, floorSum, floor, cat} {
		if err := draw(genstream.Mixed, of, string(of), 1); err != nil {
			return err
		}
	}
	for _, shape := range genstream.Shapes() {
		if err := draw(shape, checksum, fmt.Sprintf("%s, %s", checksum, shape), 0); err != nil {
			return err
		}
	}
	const roomForLegend = 12 // times the largest input
	p.X.Max *= roomForLegend
	return p.Save(26*vg.Centimeter, 15*vg.Centimeter, file)
}
