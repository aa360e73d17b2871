import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation'
import { type DeployedDelivery, readDelivery } from '../wiring/deployed-delivery.js'
import { CommandError } from './command.js'
import type { Reach } from './reach-aws.js'

const readOutputs = async (stack: string, reach: Reach): Promise<readonly string[]> => {
  const client = new CloudFormationClient(reach)
  try {
    const { Stacks: [found] = [] } = await client.send(new DescribeStacksCommand({ StackName: stack }))
    return (found?.Outputs ?? []).flatMap(({ OutputValue: value }) => value ?? [])
  } catch (error) {
    if (error instanceof Error && error.name === 'ValidationError' && error.message.includes('does not exist'))
      throw new CommandError(`there is no stack ${stack} in this account and region`, 'Check the name and --region.')
    throw error
  } finally {
    client.destroy()
  }
}

/**
 * Finds the delivery of a stack by the outputs of the stack.
 * @param bus the name of its bus, for a stack that has several
 * @throws CommandError for a stack that does not exist, has none, or has several and none was named
 */
export const findDelivery = async (
  { stack, bus }: { readonly stack: string; readonly bus?: string },
  reach: Reach,
): Promise<DeployedDelivery> => {
  const all = (await readOutputs(stack, reach)).flatMap((value) => readDelivery(value) ?? [])
  if (all.length === 0)
    throw new CommandError(
      `the stack ${stack} has no DelayedDelivery`,
      'Name the stack that made it; one that an older version made has to be deployed again.',
    )
  const fitting = all.filter(({ busName }) => bus === undefined || busName === bus)
  const [only] = fitting
  if (only !== undefined && fitting.length === 1) return only
  const names = all.map(({ busName }) => busName).join(', ')
  throw bus === undefined
    ? new CommandError(`the stack ${stack} has ${all.length} buses: ${names}`, 'Name one with --bus.')
    : new CommandError(`the stack ${stack} has no bus ${bus} of its own`, `It has ${names}.`)
}
