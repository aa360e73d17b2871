import { EMULATOR_ACCOUNT } from '../assembly/read-assembly.js'
import { toEmulatorArn } from '../deploy/make-queues.js'
import type { Topic } from '../deploy/make-topics.js'
import { type Answer, escapeXml, refuseAccess, xmlAnswer, xmlRefusal } from './answer.js'
import type { Call } from './caller.js'
import { type DeliverySettings, makeDeliveries } from './deliver-message.js'
import type { Forward } from './forward-call.js'
import { readPublishForm } from './publish-form.js'
import type { Service } from './service.js'
import { refusePublish } from './topic-rules.js'

/** Questions that the emulator answers, with the action that each needs on its topic. */
const questions: Readonly<Record<string, string>> = {
  GetTopicAttributes: 'sns:GetTopicAttributes',
  GetSubscriptionAttributes: 'sns:GetSubscriptionAttributes',
  ListSubscriptionsByTopic: 'sns:ListSubscriptionsByTopic',
}

const missingTopic = xmlRefusal({ code: 'NotFound', message: 'Topic does not exist', status: 404 })

/** The topic's part of an ARN of a topic or a subscription. */
const topicArnIn = (arn: string): string => arn.split(':').slice(0, 6).join(':')

/** The emulator has one account; the app may have another. */
const ask = async (call: Call, form: URLSearchParams, accountId: string, forward: Forward): Promise<Answer> => {
  const there = new URLSearchParams([...form].map(([name, value]): [string, string] => [name, toEmulatorArn(value)]))
  const answer = await forward(call, there.toString())
  return { ...answer, body: answer.body.toString().replaceAll(`:${EMULATOR_ACCOUNT}:`, `:${accountId}:`) }
}

/** SNS: IAM, AWS's rules, and the deliveries. */
export const makeSnsService = (
  topics: readonly Topic[],
  accountId: string,
  deliveries: DeliverySettings,
  forward: Forward,
): Service => {
  const publish = makeDeliveries(deliveries)
  const byArn = new Map(topics.map((topic) => [topic.arn, topic]))
  return {
    handle: async (call) => {
      const form = new URLSearchParams(call.body.toString('utf8'))
      const action = form.get('Action') ?? ''
      const isPublish = action === 'Publish' || action === 'PublishBatch'
      const needed = isPublish ? 'sns:Publish' : questions[action]
      if (needed === undefined) return call.caller.path === undefined ? forward(call, call.body) : undefined
      const arn = topicArnIn(form.get('TopicArn') ?? form.get('TargetArn') ?? form.get('SubscriptionArn') ?? '')
      const denial = await call.caller.deny({ action: needed, resource: arn })
      if (denial !== undefined) return xmlRefusal(refuseAccess('sns', denial))
      if (!isPublish) return ask(call, form, accountId, forward)
      const topic = byArn.get(arn)
      if (topic === undefined) return missingTopic
      const entries = readPublishForm(new Map(form))
      const refusal = refusePublish(action, entries)
      if (refusal !== undefined) return xmlRefusal(refusal)
      const ids = await publish(entries, topic)
      if (action === 'Publish') return xmlAnswer(action, `<MessageId>${ids[0]}</MessageId>`)
      const members = entries.map(
        ({ id }, place) => `<member><Id>${escapeXml(id)}</Id><MessageId>${ids[place]}</MessageId></member>`,
      )
      return xmlAnswer(action, `<Successful>${members.join('')}</Successful><Failed/>`)
    },
  }
}
