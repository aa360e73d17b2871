import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { LocalCloudError } from '../local-error.js'
import { isObject, type JsonObject, type Place, type Stack, type Template } from './template.js'

/** A cloud assembly as it lies on disk. */
export interface Assembly {
  readonly stacks: readonly Stack[]
  readonly place: Place
}

interface Artifact {
  readonly type?: string
  readonly environment?: string
  readonly dependencies?: readonly string[]
  readonly additionalMetadataFile?: string
  readonly metadata?: JsonObject
  readonly properties?: { readonly templateFile?: string; readonly stackName?: string; readonly file?: string }
}

/** The account that the emulator of SNS and SQS has; stacks that fix no account get it, too. */
export const EMULATOR_ACCOUNT = '000000000000'

const readJson = (folder: string, file: string): JsonObject => {
  try {
    const value: unknown = JSON.parse(readFileSync(join(folder, file), 'utf8'))
    if (isObject(value)) return value
    throw new SyntaxError('it holds no JSON object')
  } catch (cause) {
    throw new LocalCloudError(
      'assembly.unreadable',
      `${join(folder, file)} can't be read: ${cause instanceof Error ? cause.message : String(cause)}`,
      'Give the folder that `cdk synth` wrote.',
      { cause },
    )
  }
}

/** Replaces `${AWS::AccountId}` and its kin in an object key of an asset manifest. */
const fillIn = (text: string, { accountId, region, partition }: Place): string => {
  const values: Readonly<Record<string, string>> = { AccountId: accountId, Region: region, Partition: partition }
  return text.replace(/\$\{AWS::(\w+)\}/g, (whole, name: string) => values[name] ?? whole)
}

const readAssets = (folder: string, file: string, place: Place): [string, string][] => {
  const { files = {} } = readJson(folder, file) as {
    files?: Record<string, { source: { path?: string }; destinations: Record<string, { objectKey: string }> }>
  }
  return Object.values(files).flatMap(({ source: { path }, destinations }) =>
    path === undefined
      ? []
      : Object.values(destinations).map(({ objectKey }): [string, string] => [
          fillIn(objectKey, place),
          resolve(folder, path),
        ]),
  )
}

/** The place of the first stack that fixes one; `aws://unknown-account/unknown-region` fixes none. */
const placeOf = (artifacts: readonly Artifact[], region: string): Place => {
  const fixed = artifacts.map(({ environment = '' }) => /^aws:\/\/([^/]+)\/(.+)$/.exec(environment) ?? [])
  const account = fixed.find(([, id]) => /^\d{12}$/.test(id ?? ''))?.[1]
  const known = fixed.find(([, , name]) => name !== undefined && !name.startsWith('unknown'))?.[2]
  return {
    accountId: account ?? EMULATOR_ACCOUNT,
    region: known ?? region,
    partition: 'aws',
    urlSuffix: 'amazonaws.com',
  }
}

const readPaths = (folder: string, { metadata, additionalMetadataFile }: Artifact): Map<string, string> => {
  const all = { ...metadata, ...(additionalMetadataFile !== undefined && readJson(folder, additionalMetadataFile)) }
  const paths = new Map<string, string>()
  for (const [path, entries] of Object.entries(all))
    for (const entry of entries as readonly JsonObject[])
      if (entry.type === 'aws:cdk:logicalId') paths.set(String(entry.data), path.replace(/^\//, ''))
  return paths
}

/**
 * Reads the stacks and assets of a cloud assembly (`cdk.out`), unchanged.
 * @param region for stacks that fix none.
 * @throws LocalCloudError `assembly.unreadable`
 */
export const readAssembly = (folder: string, region: string): Assembly => {
  const artifacts = (readJson(folder, 'manifest.json').artifacts ?? {}) as Readonly<Record<string, Artifact>>
  const stacks = Object.entries(artifacts).filter(([, { type }]) => type === 'aws:cloudformation:stack')
  if (stacks.length === 0)
    throw new LocalCloudError(
      'assembly.unreadable',
      `${folder} holds no stack`,
      'Stages are to be given by their own folder.',
    )
  const place = placeOf(
    stacks.map(([, artifact]) => artifact),
    region,
  )
  return {
    place,
    stacks: stacks.map(([id, artifact]) => ({
      name: artifact.properties?.stackName ?? id,
      template: readJson(folder, artifact.properties?.templateFile ?? `${id}.template.json`) as Template,
      paths: readPaths(folder, artifact),
      assets: new Map(
        (artifact.dependencies ?? [])
          .map((name) => artifacts[name])
          .filter((found) => found?.type === 'cdk:asset-manifest')
          .flatMap((found) => readAssets(folder, found?.properties?.file ?? '', place)),
      ),
    })),
  }
}
