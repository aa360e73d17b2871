import type { Template } from 'aws-cdk-lib/assertions'

interface Statement {
  readonly Action: string | readonly string[]
  readonly Resource: unknown
  readonly Effect: string
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

const asList = <T>(value: T | readonly T[]): readonly T[] => (Array.isArray(value) ? value : [value as T])

const withoutHash = (logicalId: string): string => logicalId.replace(/[0-9A-F]{8}$/, '')

/** What a reference means, by logical ids without their hashes. */
const nameOf = (value: unknown): string => {
  if (typeof value === 'string') return value
  const { Ref, 'Fn::GetAtt': attribute, 'Fn::Join': join, 'Fn::ImportValue': imported } = value as Record<string, never>
  if (Ref !== undefined) return withoutHash(Ref)
  if (attribute !== undefined) return `${withoutHash(attribute[0])}`
  if (imported !== undefined) return `import ${String(imported)}`
  if (join !== undefined) return (join[1] as unknown[]).map(nameOf).join(join[0])
  return JSON.stringify(value)
}

const describeCondition = (condition: Statement['Condition']): string =>
  Object.entries(condition ?? {})
    .flatMap(([operator, keys]) =>
      Object.entries(keys).map(([key, values]) => {
        const short = operator === 'ForAllValues:StringLike' && key === 'dynamodb:LeadingKeys'
        const listed = asList(values).map(nameOf).join(' ')
        return short ? ` of ${listed}` : ` if ${key} ${operator} ${listed}`
      }),
    )
    .join('')

/** All that a role may do: one line for each action and resource, sorted. Roles are named by their logical id without hash. */
export const permissionsOf = (template: Template): Readonly<Record<string, readonly string[]>> => {
  const roles: Record<string, string[]> = {}
  for (const id of Object.keys(template.findResources('AWS::IAM::Role'))) roles[withoutHash(id)] = []
  for (const { Properties } of Object.values(template.findResources('AWS::IAM::Policy'))) {
    const lines = (Properties.PolicyDocument.Statement as readonly Statement[]).flatMap((statement) =>
      asList(statement.Action).flatMap((action) =>
        asList(statement.Resource).map(
          (resource) =>
            `${statement.Effect === 'Allow' ? '' : 'not '}${action} on ${nameOf(resource)}${describeCondition(statement.Condition)}`,
        ),
      ),
    )
    for (const role of asList(Properties.Roles)) roles[nameOf(role)]?.push(...lines)
  }
  for (const lines of Object.values(roles)) lines.sort()
  return roles
}
