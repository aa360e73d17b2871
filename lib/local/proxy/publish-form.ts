import type { MessageAttribute } from '../deploy/queue-client.js'
import type { BatchEntry } from './message-rules.js'

/** A message to publish. */
export interface PublishEntry extends BatchEntry {
  readonly subject: string | undefined
}

type Form = ReadonlyMap<string, string>

/** The numbers N in `<prefix>.N.`, in order. */
const membersOf = (form: Form, prefix: string): readonly string[] => {
  const found = new Set<string>()
  for (const name of form.keys())
    if (name.startsWith(`${prefix}.`)) found.add(name.slice(prefix.length + 1).split('.', 1)[0] ?? '')
  return [...found].sort((one, other) => Number(one) - Number(other))
}

const attributesAt = (form: Form, prefix: string): Readonly<Record<string, MessageAttribute>> =>
  Object.fromEntries(
    membersOf(form, `${prefix}MessageAttributes.entry`).map((number) => {
      const at = (field: string) => form.get(`${prefix}MessageAttributes.entry.${number}.${field}`)
      const text = at('Value.StringValue')
      const binary = at('Value.BinaryValue')
      return [
        at('Name') ?? '',
        {
          DataType: at('Value.DataType') ?? '',
          ...(text !== undefined && { StringValue: text }),
          ...(binary !== undefined && { BinaryValue: binary }),
        },
      ]
    }),
  )

const entryAt = (form: Form, prefix: string): PublishEntry => ({
  id: form.get(`${prefix}Id`) ?? '',
  body: form.get(`${prefix}Message`) ?? '',
  subject: form.get(`${prefix}Subject`),
  attributes: attributesAt(form, prefix),
})

/** The messages of a Publish or a PublishBatch, as the query protocol writes them. */
export const readPublishForm = (form: Form): readonly PublishEntry[] => {
  const prefix = 'PublishBatchRequestEntries.member'
  if (form.get('Action') === 'Publish') return [entryAt(form, '')]
  return membersOf(form, prefix).map((number) => entryAt(form, `${prefix}.${number}.`))
}
