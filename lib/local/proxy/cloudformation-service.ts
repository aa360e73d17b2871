import type { ResolvedAssembly } from '../assembly/resolve-assembly.js'
import type { Place } from '../assembly/template.js'
import { escapeXml, refuseAccess, xmlAnswer, xmlRefusal } from './answer.js'
import type { Service } from './service.js'

const element = (name: string, text: string): string => `<${name}>${escapeXml(text)}</${name}>`

/**
 * DescribeStacks of CloudFormation, for one stack: how operators and deployment scripts find what was deployed.
 * @see https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeStacks.html
 */
export const makeCloudFormationService = (
  outputs: ResolvedAssembly['outputs'],
  { partition, region, accountId }: Place,
): Service => {
  // A local cloud makes all of its stacks when it starts.
  const createdAt = new Date().toISOString()
  return {
    handle: async (call) => {
      const form = new URLSearchParams(call.body.toString('utf8'))
      const name = form.get('StackName')
      if (form.get('Action') !== 'DescribeStacks' || name === null) return undefined
      const arn = `arn:${partition}:cloudformation:${region}:${accountId}:stack/${name}/local`
      const denial = await call.caller.deny({ action: 'cloudformation:DescribeStacks', resource: arn })
      if (denial !== undefined) return xmlRefusal(refuseAccess('cloudformation', denial))
      const own = outputs[name]
      if (own === undefined)
        return xmlRefusal({ code: 'ValidationError', message: `Stack with id ${name} does not exist` })
      const members = Object.entries(own).map(
        ([key, value]) => `<member>${element('OutputKey', key)}${element('OutputValue', value)}</member>`,
      )
      const state = element('StackStatus', 'CREATE_COMPLETE') + element('CreationTime', createdAt)
      const stack = `${element('StackId', arn)}${element('StackName', name)}${state}<Outputs>${members.join('')}</Outputs>`
      return xmlAnswer('DescribeStacks', `<Stacks><member>${stack}</member></Stacks>`)
    },
  }
}
