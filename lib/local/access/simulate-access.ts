import { LocalCloudError } from '../local-error.js'
import type { Access, NamedPolicy, PolicyDocument } from './policy.js'

/** What IAM decides. */
export type AccessDecision =
  | 'allowed'
  /** A statement denies it. */
  | 'denied'
  /** No statement allows it. */
  | 'not-allowed'

/** A question to IAM with all that the answer depends on. */
export interface AccessQuestion {
  readonly access: Access
  /** The ARN of a role's session, or a service such as `sns.amazonaws.com`. */
  readonly principal: string
  readonly accountId: string
  readonly identityPolicies: readonly NamedPolicy[]
  readonly resourcePolicy: PolicyDocument | undefined
}

/** The part of `@cloud-copilot/iam-simulate` that is used; the package is loaded on demand. */
interface Simulator {
  runSimulation(simulation: object, options: object): Promise<SimulationAnswer>
}

interface SimulationAnswer {
  readonly resultType: string
  readonly overallResult?: string
  readonly errors?: unknown
}

const loadSimulator = async (): Promise<Simulator> => {
  try {
    return (await import('@cloud-copilot/iam-simulate')) as unknown as Simulator
  } catch (cause) {
    throw new LocalCloudError(
      'package.missing',
      'the local cloud needs the package @cloud-copilot/iam-simulate to enforce IAM',
      'Install it as a development dependency.',
      { cause },
    )
  }
}

/**
 * Asks IAM, through the simulator; without a network.
 * @throws LocalCloudError `resource.invalid` when a policy is malformed; `package.missing`
 */
export const simulateAccess = async (question: AccessQuestion): Promise<AccessDecision> => {
  const { access, principal, accountId, identityPolicies, resourcePolicy } = question
  const { runSimulation } = await loadSimulator()
  const answer = await runSimulation(
    {
      request: {
        principal,
        action: access.action,
        resource: { resource: access.resource, accountId },
        contextVariables: access.context ?? {},
      },
      identityPolicies: identityPolicies.map(({ name, document }) => ({ name, policy: document })),
      serviceControlPolicies: [],
      resourceControlPolicies: [],
      resourcePolicy,
    },
    {},
  )
  if (answer.resultType === 'error')
    throw new LocalCloudError(
      'resource.invalid',
      `IAM can't decide whether ${principal} may ${access.action} on ${access.resource}: ${JSON.stringify(answer.errors)}`,
      'Correct the policies; AWS would refuse them, too.',
    )
  if (answer.overallResult === 'Allowed') return 'allowed'
  return answer.overallResult === 'ExplicitlyDenied' ? 'denied' : 'not-allowed'
}
