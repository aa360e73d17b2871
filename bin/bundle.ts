import { type Dirent, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

/**
 * Bundles each function of `lambdas/` into `assets/<name>/index.mjs`, once, for `Code.fromAsset`. So synth needs no bundler,
 * a published construct needs none at its user's, and the hash of an asset is the same in every checkout.
 */
const root = fileURLToPath(new URL('..', import.meta.url))
const sources = join(root, 'lambdas')
const assets = join(root, 'assets')

/** Files of `lambdas/` that export a handler; the others are parts of them. */
const functionNames = readdirSync(sources)
  .filter((file) => file.endsWith('.ts') && /^export const handler\b/m.test(readFileSync(join(sources, file), 'utf8')))
  .map((file) => basename(file, '.ts'))

/**
 * Where the SDK looks for credentials when the environment has none; Lambda's always has. The SDK imports them on demand, and
 * left out they make a bundle a quarter smaller.
 */
const neverLoaded = ['ini', 'login', 'process', 'sso', 'web-identity'].map(
  (kind) => `@aws-sdk/credential-provider-${kind}`,
)

/**
 * What is there already stays, and what is new appears at once: a synth, or another bundling, may be reading. The draft lies
 * outside of the asset's folder, since all that is in there belongs to the asset and its hash.
 */
const replaceFile = (path: string, content: Uint8Array, draft: string): void => {
  try {
    if (readFileSync(path).equals(content)) return
  } catch {
    // There is none yet.
  }
  writeFileSync(draft, content)
  renameSync(draft, path)
}

const bundleFunction = async (name: string): Promise<number> => {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [join('lambdas', `${name}.ts`)],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    // The packages' ES modules first: they are what can be shaken.
    mainFields: ['module', 'main'],
    external: neverLoaded,
    minify: true,
    legalComments: 'none',
    logLevel: 'warning',
  })
  const [bundle] = outputFiles
  if (bundle === undefined) throw new Error(`esbuild wrote nothing for lambdas/${name}.ts`)
  const folder = join(assets, name)
  mkdirSync(folder, { recursive: true })
  replaceFile(join(folder, 'index.mjs'), bundle.contents, join(assets, `${name}.${process.pid}.draft`))
  return bundle.contents.byteLength
}

for (const name of functionNames) {
  const bytes = await bundleFunction(name)
  console.log(`assets/${name}/index.mjs ${Math.ceil(bytes / 1024)} kB`)
}
const isStale = (entry: Dirent) => entry.isDirectory() && !functionNames.includes(entry.name)
for (const { name } of readdirSync(assets, { withFileTypes: true }).filter(isStale))
  rmSync(join(assets, name), { recursive: true, force: true })
