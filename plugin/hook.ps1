# hook.sh for Windows. Helm runs it at the end of `helm plugin install` and
# `helm plugin update` (plugin.yaml). It fetches nothing itself.
$ErrorActionPreference = 'Stop'

if (-not $env:HELM_PLUGIN_DIR) {
    [Console]::Error.WriteLine('helm-checksum: HELM_PLUGIN_DIR is not set: Helm runs this script, at helm plugin install')
    exit 1
}
$dir = $env:HELM_PLUGIN_DIR.TrimEnd('\', '/')
$plugins = Split-Path -Parent $dir
$binary = Join-Path $dir 'bin\helm-checksum.exe'
$second = "$dir-postrenderer" # plugin.yaml's delete hook knows this name too
$again = 'Then: helm plugin uninstall checksum, and install it again'

function Say($text) { Write-Output "helm-checksum: $text" }

function Fail($text) {
    [Console]::Error.WriteLine("helm-checksum: $text")
    exit 1
}

# Get-MajorVersion returns 3 or 4 for a helm executable.
function Get-MajorVersion($helm) {
    $plugins = $env:HELM_NO_PLUGINS
    $env:HELM_NO_PLUGINS = '1'
    try { $text = & $helm version --template '{{.Version}}' 2>$null } catch { $text = '' }
    $env:HELM_NO_PLUGINS = $plugins
    if ("$text" -match '^v(\d+)\.') { return $Matches[1] }
    return ''
}

# Find-Helm returns where PATH has a helm of that major version.
function Find-Helm($major) {
    $names = 'helm', "helm$major", "helm-$major", "helmv$major", "helm-v$major"
    foreach ($found in Get-Command -CommandType Application -All -ErrorAction SilentlyContinue $names) {
        if ((Get-MajorVersion $found.Source) -eq $major) { return $found.Source }
    }
    return ''
}

function Test-Version($file) {
    if (-not (Test-Path -LiteralPath $file)) { return $false }
    try { $text = & $file version 2>$null } catch { return $false }
    return ("$text" -split ' ')[1] -eq $version
}

# Add-PostRenderer copies what the second plugin needs: links take a privilege.
function Add-PostRenderer {
    New-Item -ItemType Directory -Force (Join-Path $second 'bin') | Out-Null
    Copy-Item -Force -LiteralPath (Join-Path $dir 'plugin\postrenderer\plugin.yaml') $second
    Copy-Item -Force -LiteralPath $binary (Join-Path $second 'bin')
}

# Two plugins of one name, of whatever type, and Helm loads none.
foreach ($manifest in Get-ChildItem -Path (Join-Path $plugins '*\plugin.yaml') -ErrorAction SilentlyContinue) {
    $other = $manifest.DirectoryName
    if ($other -eq $dir -or $other -eq $second) { continue }
    $name = Select-String -LiteralPath $manifest.FullName -Pattern "^name: *[`"']?(checksum|helm-checksum)[`"']? *$" | Select-Object -First 1
    if ($name) {
        $other = $other -replace '-postrenderer$', ''
        Fail "the plugin $($name.Matches[0].Groups[1].Value) is there already, in $other, and Helm loads no plugin while two have one name. Keep one: remove the directory, and $other-postrenderer if it is there"
    }
}

$version = (Select-String -LiteralPath (Join-Path $dir 'plugin.yaml') -Pattern '^version: *(.*?) *$').Matches[0].Groups[1].Value

if (-not (Test-Path -LiteralPath (Join-Path $dir 'cmd\helm-checksum'))) { # a release archive
    if (-not (Test-Version $binary)) {
        Fail "$binary does not run here as version $version. Install the release archive for this platform ($env:PROCESSOR_ARCHITECTURE), or the sources, which Go builds"
    }
} elseif (Get-Command -CommandType Application go -ErrorAction SilentlyContinue) {
    Push-Location -LiteralPath $dir
    Say "building $version from source: go build, with your Go settings: $(go env GOVERSION), GOPROXY=$(go env GOPROXY)"
    $ErrorActionPreference = 'Continue' # what go says on stderr is no failure
    go build -trimpath -buildvcs=false -ldflags "-s -w -X github.com/helm-checksum/helm-checksum/internal/cli.version=$version" -o bin/helm-checksum.exe ./cmd/helm-checksum
    $built = $LASTEXITCODE
    $ErrorActionPreference = 'Stop'
    Pop-Location
    if ($built -ne 0) { Fail "go build failed, see above. $again" }
} elseif (Test-Version $binary) {
    Say 'there is no go on PATH; bin\helm-checksum.exe, built earlier, has the right version'
} else {
    Fail "there is no go on PATH to build the sources with. Install Go (see go.mod for its version), or take a release archive, which has the program. $again"
}

# Helm 3 tells hooks where it is, Helm 4 does not.
$running = '4'
if ($env:HELM_BIN) { $running = Get-MajorVersion $env:HELM_BIN }
$addBy = "xcopy /e /i /y `"$dir\plugin\postrenderer`" `"$second`" && xcopy /e /i /y `"$dir\bin`" `"$second\bin`""

if ($running -eq '4') {
    $helm3 = ''
    if (-not (Test-Path -LiteralPath $second)) { $helm3 = Find-Helm '3' }
    if ($helm3) {
        Say "Helm 4 wants a second plugin for --post-renderer. It is not added, because Helm 3 is here too ($helm3):"
        Say "Helm 3 loads none of its plugins from a directory that has a plugin of Helm 4, and by default both use $plugins"
        Say 'To add it all the same, or when Helm 3 uses another directory (HELM_PLUGINS), in cmd:'
        Write-Output '', "  $addBy", ''
    } else {
        Add-PostRenderer
        Say 'with Helm 4: helm upgrade --install web ./web --post-renderer helm-checksum'
    }
} else {
    Say "with Helm 3: helm upgrade --install web ./web --post-renderer `"$binary`""
    Say "or with its folder on PATH ($dir\bin), --post-renderer helm-checksum"
    $helm4 = Find-Helm '4'
    if ($helm4) {
        Say "Helm 4 ($helm4) wants a second plugin for --post-renderer, and where that is Helm 3 loads no plugin at all. In cmd:"
        Write-Output '', "  $addBy", ''
    }
}
