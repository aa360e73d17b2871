import { LocalCloudError } from '../local-error.js'
import { attributeOf, type Identity, identifyResource, type Naming } from './identify-resource.js'
import { checkKnown, isActing } from './known-resources.js'
import type { Assembly } from './read-assembly.js'
import { type References, resolveValue } from './resolve-value.js'
import type { Resource, Stack } from './template.js'

/** An assembly whose references are all resolved. */
export interface ResolvedAssembly {
  /** The resources that act. */
  readonly resources: readonly Resource[]
  /** The resources that have nothing to do while the app runs. */
  readonly inert: readonly Resource[]
  /** The outputs, by stack and by name. */
  readonly outputs: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** Folders of the assets, by the key under which they would be in S3. */
  readonly assets: ReadonlyMap<string, string>
}

const pathOf = (stack: Stack, logicalId: string): string =>
  (stack.template.Resources?.[logicalId]?.Metadata?.['aws:cdk:path'] as string | undefined) ??
  stack.paths.get(logicalId) ??
  `${stack.name}/${logicalId}`

/** Answers the references of one stack. Names need no resource to exist, so the order of resources does not matter. */
const makeReferences = (
  stack: Stack,
  naming: Naming,
  imported: References['imported'],
): References & { identity(id: string): Identity } => {
  const { template, name } = stack
  const { accountId, region, partition, urlSuffix } = naming.place
  const pseudo: Readonly<Record<string, string>> = {
    'AWS::AccountId': accountId,
    'AWS::Region': region,
    'AWS::Partition': partition,
    'AWS::URLSuffix': urlSuffix,
    'AWS::StackName': name,
    'AWS::StackId': `arn:${partition}:cloudformation:${region}:${accountId}:stack/${name}/local`,
  }
  const known = new Map<string, Identity>()
  const references = {
    imported,
    identity: (logicalId: string): Identity => {
      const seen = known.get(logicalId)
      if (seen !== undefined) return seen
      const resource = template.Resources?.[logicalId]
      if (resource === undefined)
        throw new LocalCloudError(
          'template.unresolvable',
          `the stack ${name} refers to ${logicalId}, which it does not hold`,
          'Synthesize it again.',
        )
      const identity = identifyResource(name, logicalId, resource, naming, (value) => resolveValue(value, references))
      known.set(logicalId, identity)
      return identity
    },
    ref: (target: string): string => {
      const fixed = pseudo[target]
      if (fixed !== undefined) return fixed
      const parameter = template.Parameters?.[target]
      if (parameter?.Default !== undefined) return String(parameter.Default)
      return references.identity(target).ref
    },
    attribute: (logicalId: string, attribute: string) =>
      attributeOf(references.identity(logicalId), attribute, pathOf(stack, logicalId)),
  }
  return references
}

/** Answers what other stacks export, by the name of the export. */
const makeImports = (assembly: Assembly, naming: Naming): References['imported'] => {
  const imported = (name: string): unknown => {
    for (const stack of assembly.stacks) {
      const references = makeReferences(stack, naming, imported)
      for (const { Value: value, Export: exported } of Object.values(stack.template.Outputs ?? {}))
        if (exported !== undefined && resolveValue(exported.Name, references) === name)
          return resolveValue(value, references)
    }
    throw new LocalCloudError(
      'template.unresolvable',
      `no stack of the assembly exports ${name}`,
      'Synthesize the stack that does together with this one.',
    )
  }
  return imported
}

/**
 * Resolves the references of all stacks, and refuses what the local cloud does not know.
 * @throws LocalCloudError `template.unresolvable`, `resource.unknown`, `resource.unknown-property`
 */
export const resolveAssembly = (assembly: Assembly, naming: Naming): ResolvedAssembly => {
  const imported = makeImports(assembly, naming)
  const all: Resource[] = []
  const outputs: Record<string, Record<string, string>> = {}
  for (const stack of assembly.stacks) {
    const references = makeReferences(stack, naming, imported)
    for (const [logicalId, resource] of Object.entries(stack.template.Resources ?? {})) {
      const path = pathOf(stack, logicalId)
      checkKnown(path, resource)
      const { name, arn, ref } = references.identity(logicalId)
      const acts = isActing(resource.Type) || resource.Type === 'AWS::CloudWatch::Alarm'
      const properties = acts ? (resolveValue(resource.Properties ?? {}, references) as Resource['properties']) : {}
      all.push({ stack: stack.name, logicalId, path, type: resource.Type, name, arn, ref, properties })
    }
    outputs[stack.name] = Object.fromEntries(
      Object.entries(stack.template.Outputs ?? {}).map(([name, { Value: value }]) => [
        name,
        String(resolveValue(value, references)),
      ]),
    )
  }
  return {
    resources: all.filter(({ type }) => isActing(type)),
    inert: all.filter(({ type }) => !isActing(type)),
    outputs,
    assets: new Map(assembly.stacks.flatMap(({ assets }) => [...assets])),
  }
}
