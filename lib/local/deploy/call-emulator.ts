import { LocalCloudError } from '../local-error.js'

/** Calls one emulator. */
export interface EmulatorCalls {
  /** A call of DynamoDB or SQS, such as `AmazonSQS.CreateQueue`. @throws LocalCloudError when it is refused */
  json(target: string, body: object): Promise<Record<string, unknown>>
  /** A call of SNS; answers XML. @throws LocalCloudError when it is refused */
  form(parameters: Readonly<Record<string, string>>): Promise<string>
}

/** Emulators read the region from the signature and check nothing else of it. */
const authorizationFor = (region: string): string =>
  `AWS4-HMAC-SHA256 Credential=LOCAL/20260101/${region}/local/aws4_request, SignedHeaders=host, Signature=local`

const refused = (what: string, status: number, text: string): LocalCloudError =>
  new LocalCloudError(
    'resource.invalid',
    `the emulator refused ${what} with ${status}: ${text}`,
    'AWS may refuse it, too.',
  )

/** Makes calls to an emulator. @param endpoint where it answers */
export const callEmulator = (endpoint: string, region: string): EmulatorCalls => {
  const post = async (what: string, headers: Record<string, string>, body: string): Promise<string> => {
    const response = await fetch(endpoint, {
      method: 'POST',
      headers: { authorization: authorizationFor(region), 'x-amz-date': '20260101T000000Z', ...headers },
      body,
    })
    const text = await response.text()
    if (!response.ok) throw refused(what, response.status, text)
    return text
  }
  return {
    json: async (target, body) => {
      const headers = { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': target }
      const text = await post(target, headers, JSON.stringify(body))
      return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
    },
    form: (parameters) =>
      post(
        parameters.Action ?? 'a call',
        { 'content-type': 'application/x-www-form-urlencoded' },
        new URLSearchParams({ Version: '2010-03-31', ...parameters }).toString(),
      ),
  }
}
