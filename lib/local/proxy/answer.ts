import { randomUUID } from 'node:crypto'
import type { Denial } from '../access/policy.js'

/** What goes back to the caller. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: string | Buffer
}

/** A refusal of a call, before it is put into the form of the service. */
export interface Refusal {
  /** The error's code, as the service writes it. */
  readonly code: string
  readonly message: string
  /** @default 400 */
  readonly status?: number
}

/** A refusal in the JSON protocols: of DynamoDB and SQS. @see https://smithy.io/2.0/aws/protocols/aws-json-1_0-protocol.html */
export const jsonRefusal = ({ code, message, status = 400 }: Refusal, namespace: string): Answer => ({
  status,
  headers: { 'content-type': 'application/x-amz-json-1.0', 'x-amzn-requestid': randomUUID() },
  body: JSON.stringify({ __type: `${namespace}#${code}`, message }),
})

/** An answer in the JSON protocols. */
export const jsonAnswer = (value: unknown): Answer => ({
  status: 200,
  headers: { 'content-type': 'application/x-amz-json-1.0', 'x-amzn-requestid': randomUUID() },
  body: JSON.stringify(value),
})

/** Text that may stand in XML. */
export const escapeXml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

const namespace = 'http://sns.amazonaws.com/doc/2010-03-31/'

/** A refusal in the query protocol: of SNS. */
export const xmlRefusal = ({ code, message, status = 400 }: Refusal): Answer => ({
  status,
  headers: { 'content-type': 'text/xml' },
  body:
    `<ErrorResponse xmlns="${namespace}"><Error><Type>Sender</Type><Code>${escapeXml(code)}</Code>` +
    `<Message>${escapeXml(message)}</Message></Error><RequestId>${randomUUID()}</RequestId></ErrorResponse>`,
})

/** An answer in the query protocol. @param result the XML inside the result element */
export const xmlAnswer = (action: string, result: string): Answer => ({
  status: 200,
  headers: { 'content-type': 'text/xml' },
  body:
    `<${action}Response xmlns="${namespace}"><${action}Result>${result}</${action}Result>` +
    `<ResponseMetadata><RequestId>${randomUUID()}</RequestId></ResponseMetadata></${action}Response>`,
})

/** The codes by which each service refuses access: to itself, and to a key. */
const denialCodes = {
  dynamodb: ['AccessDeniedException', 'AccessDeniedException'],
  sqs: ['AccessDenied', 'KmsAccessDenied'],
  sns: ['AuthorizationError', 'KMSAccessDenied'],
  scheduler: ['AccessDeniedException', 'AccessDeniedException'],
  lambda: ['AccessDeniedException', 'KMSAccessDeniedException'],
  cloudformation: ['AccessDenied', 'AccessDenied'],
} as const

/** A denial in the words of a service. */
export const refuseAccess = (service: keyof typeof denialCodes, { action, message }: Denial): Refusal => {
  const [own, ofKey] = denialCodes[service]
  return {
    code: action.startsWith('kms:') ? ofKey : own,
    message,
    status: service === 'dynamodb' ? 400 : 403,
  }
}
