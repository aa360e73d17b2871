/** What one area of the project may import. */
export interface AreaLaw {
  /** Areas of ours, besides itself. */
  readonly areas: readonly string[]
  /** Packages, whole names; a name that ends in `/` allows all of a scope. */
  readonly packages: readonly string[]
  /** Builtins of Node. */
  readonly node: boolean
}

const stores = ['memory', 'dynamodb', 'postgres', 'sns', 'sqs']
const aws = ['@aws-sdk/', '@smithy/']

/**
 * Who may import whom, by folder of `lib/` and by top-level folder. What is not here is forbidden.
 *
 * `entry` are the files in `lib/` itself, the doors of the package: nothing of ours goes through them.
 */
export const importLaw: Readonly<Record<string, AreaLaw>> = {
  wiring: { areas: [], packages: [], node: false },
  core: { areas: [], packages: ['@noble/hashes'], node: false },
  memory: { areas: ['core', 'wiring'], packages: [], node: false },
  dynamodb: { areas: ['core', 'wiring'], packages: aws, node: true },
  postgres: { areas: ['core', 'wiring'], packages: ['pg'], node: true },
  sns: { areas: ['core', 'wiring'], packages: aws, node: true },
  sqs: { areas: ['core', 'wiring'], packages: [...aws, 'sqs-consumer', 'aws-lambda'], node: true },
  lambda: {
    areas: ['core', 'wiring', ...stores],
    packages: [...aws, '@middy/core', '@aws-lambda-powertools/', 'aws-lambda'],
    node: true,
  },
  operations: { areas: ['core', 'wiring', ...stores], packages: aws, node: true },
  constructs: { areas: ['wiring'], packages: ['aws-cdk-lib', 'constructs'], node: true },
  testing: { areas: ['core', 'memory'], packages: [], node: false },
  local: { areas: ['wiring'], packages: [...aws, '@cloud-copilot/iam-simulate', 'fauxqs', 'dynalite'], node: true },
  lambdas: {
    areas: ['core', 'wiring', ...stores, 'lambda'],
    packages: [...aws, '@middy/core', 'aws-lambda'],
    node: true,
  },
  bin: {
    // Of the functions, the app needs to know the messages only.
    areas: ['core', 'wiring', ...stores, 'lambda', 'operations', 'constructs', 'local', 'lambdas'],
    packages: [...aws, 'aws-cdk-lib', 'constructs', 'cdk-nag', 'esbuild'],
    node: true,
  },
}

/** What each entry of the package opens: the folders that it re-exports from. */
export const entryAreas: Readonly<Record<string, readonly string[]>> = {
  index: ['core', 'memory'],
  aws: ['dynamodb', 'sns', 'sqs'],
  postgres: ['postgres'],
  lambda: ['lambda'],
  constructs: ['constructs'],
  testing: ['testing'],
  local: ['local'],
}

/** The packages that are loaded together with each entry, at most. What is not here loads on demand or not at all. */
export const entryPackages: Readonly<Record<string, readonly string[]>> = {
  index: ['@noble/hashes'],
  aws: ['@noble/hashes', ...aws],
  postgres: ['@noble/hashes', 'pg'],
  lambda: ['@noble/hashes', ...aws],
  constructs: ['aws-cdk-lib', 'constructs'],
  testing: ['@noble/hashes'],
  local: [],
}

/** Whether a list of packages, as above, holds this one. */
export const allowsPackage = (allowed: readonly string[], name: string): boolean =>
  allowed.some((entry) => (entry.endsWith('/') ? name.startsWith(entry) : name === entry))

/** The area of a file: a folder of `lib/`, `entry`, or a top-level folder. Files at the root are `root`. */
export const areaOf = (path: string): string => {
  const [top = '', second = '', ...rest] = path.split('/')
  if (top === 'lib') return rest.length === 0 ? 'entry' : second
  return second === '' ? 'root' : top
}

/** The areas that the law leaves free: nothing of the package depends on them. */
export const freeAreas: readonly string[] = ['test', 'bench', 'examples', 'root']
