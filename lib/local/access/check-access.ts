import type { Place } from '../assembly/template.js'
import { keyAccesses } from './key-access.js'
import { type Access, type Denial, joinDocuments, type NamedPolicy, type PolicyDocument, type Role } from './policy.js'
import { type AccessDecision, simulateAccess } from './simulate-access.js'

/** What IAM knows: all policies of the app. */
export interface AccessRules {
  readonly place: Place
  readonly roles: readonly Role[]
  /** By the ARN of the resource. */
  readonly resourcePolicies: ReadonlyMap<string, readonly PolicyDocument[]>
  /** The ARNs of customers' keys, by the ARN of what they encrypt. */
  readonly keys: ReadonlyMap<string, string>
}

/** Answers whether calls are allowed, by the policies of the template. */
export interface AccessCheck {
  /** What is denied to a role's session; `undefined` when it is allowed. @param session such as the function's name */
  asRole(roleArn: string, session: string, access: Access): Promise<Denial | undefined>
  /** What is denied to a service of AWS that acts for a resource. @param sourceArn the resource it acts for */
  asService(service: string, sourceArn: string, access: Access): Promise<Denial | undefined>
  /** Whether a service may take the role. */
  canAssume(service: string, sourceArn: string, roleArn: string): Promise<boolean>
}

const reasons: Readonly<Record<AccessDecision, string>> = {
  allowed: '',
  denied: 'with an explicit deny in a policy',
  'not-allowed': 'because no policy allows the action',
}

/** Bodies have keys of their own, so questions about them never repeat. */
const MOST_REMEMBERED = 10_000

/** Makes the check. Decisions are kept, since a run asks the same few questions thousands of times. */
export const makeAccessCheck = ({ place, roles, resourcePolicies, keys }: AccessRules): AccessCheck => {
  const { accountId, partition } = place
  const decisions = new Map<string, Promise<AccessDecision>>()

  const decide = (
    principal: string,
    access: Access,
    identityPolicies: readonly NamedPolicy[],
  ): Promise<AccessDecision> => {
    const resourcePolicy = joinDocuments(resourcePolicies.get(access.resource) ?? [])
    const text = JSON.stringify([identityPolicies, resourcePolicy]).toLowerCase()
    // A condition key that no policy asks for can't change the decision, so it is no part of what is remembered.
    const asked = Object.entries(access.context ?? {}).filter(([key]) => text.includes(key.toLowerCase()))
    const key = JSON.stringify([principal, access.action, access.resource, asked])
    const known = decisions.get(key)
    if (known !== undefined) return known
    if (decisions.size >= MOST_REMEMBERED) decisions.clear()
    const decision = simulateAccess({ access, principal, accountId, identityPolicies, resourcePolicy })
    decisions.set(key, decision)
    return decision
  }

  const check = async (
    principal: string,
    access: Access,
    policies: readonly NamedPolicy[],
    context: NonNullable<Access['context']>,
  ): Promise<Denial | undefined> => {
    const keyArn = keys.get(access.resource)
    for (const part of [access, ...(keyArn === undefined ? [] : keyAccesses(access, keyArn, accountId))]) {
      const decision = await decide(principal, { ...part, context: { ...context, ...part.context } }, policies)
      if (decision !== 'allowed')
        return {
          action: part.action,
          resource: part.resource,
          message: `User: ${principal} is not authorized to perform: ${part.action} on resource: ${part.resource} ${reasons[decision]}`,
        }
    }
    return undefined
  }

  const secure = { 'aws:SecureTransport': 'true' }
  return {
    asRole: (roleArn, session, access) => {
      const role = roles.find(({ arn }) => arn === roleArn)
      const principal = `arn:${partition}:sts::${accountId}:assumed-role/${role?.name ?? 'unknown'}/${session}`
      return check(principal, access, role?.policies ?? [], {
        ...secure,
        'aws:PrincipalArn': roleArn,
        'aws:PrincipalAccount': accountId,
        'aws:PrincipalIsAWSService': 'false',
      })
    },
    asService: (service, sourceArn, access) =>
      check(service, access, [], {
        ...secure,
        'aws:SourceArn': sourceArn,
        'aws:SourceAccount': accountId,
        'aws:PrincipalIsAWSService': 'true',
        'aws:PrincipalServiceName': service,
      }),
    canAssume: async (service, sourceArn, roleArn) => {
      const role = roles.find(({ arn }) => arn === roleArn)
      if (role === undefined) return false
      const decision = await simulateAccess({
        access: {
          action: 'sts:AssumeRole',
          resource: roleArn,
          context: { 'aws:SourceArn': sourceArn, 'aws:SourceAccount': accountId },
        },
        principal: service,
        accountId,
        identityPolicies: [],
        resourcePolicy: role.trust,
      })
      return decision === 'allowed'
    },
  }
}
