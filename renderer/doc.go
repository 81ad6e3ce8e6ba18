// Package renderer is the engine of helm-checksum. It reads a stream of rendered
// manifests, finds out which ConfigMaps and Secrets every workload in it consumes,
// and writes their checksums into the annotations of the pod templates, so that a
// change of configuration rolls the pods that read it, and no others.
//
// A [Renderer] is made once from [Options]. [Renderer.Run] is a post-renderer for
// the SDKs of Helm 3 and Helm 4. [Renderer.Stamp] is the same for a stream in memory,
// with warnings. [Renderer.Plan] also says who consumes what, in plain data; a Plan is
// the report. [Verify] and [Diff] read Plans.
//
// The package knows bytes and manifests. It knows no files, flags or clusters, has
// no global state, and imports neither the Helm SDK nor a Kubernetes client. What it
// promises, to the byte, is the project's contract, whose sections the comments name.
package renderer
