/** A JSON object whose values are not known yet. */
export type JsonObject = Readonly<Record<string, unknown>>

/** Whether a value is a JSON object, and no list. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The parts of a CloudFormation template that the local cloud reads. */
export interface Template {
  readonly Resources?: Readonly<Record<string, TemplateResource>>
  readonly Outputs?: Readonly<Record<string, TemplateOutput>>
  readonly Parameters?: Readonly<Record<string, { readonly Default?: unknown }>>
}

/** A resource as the template declares it. */
export interface TemplateResource {
  readonly Type: string
  readonly Properties?: JsonObject
  readonly Metadata?: JsonObject
  readonly Condition?: string
}

/** An output as the template declares it. */
export interface TemplateOutput {
  readonly Value: unknown
  readonly Export?: { readonly Name: unknown }
}

/** A stack of the assembly, as synthesized. */
export interface Stack {
  readonly name: string
  readonly template: Template
  /** Folders (or files) of the assets, by the key under which they would be in S3. */
  readonly assets: ReadonlyMap<string, string>
  /** Construct paths by logical id, as far as the assembly tells them. */
  readonly paths: ReadonlyMap<string, string>
}

/** Where the stacks live, as pseudo parameters tell it. */
export interface Place {
  readonly accountId: string
  readonly region: string
  readonly partition: string
  readonly urlSuffix: string
}

/** A resource with all its references resolved. */
export interface Resource {
  readonly stack: string
  readonly logicalId: string
  /** Its construct path, such as `Shop/Orders/Resource`; its stack and logical id where the assembly tells none. */
  readonly path: string
  readonly type: string
  /** Its physical name. */
  readonly name: string
  readonly arn: string
  /** What `Ref` gives. */
  readonly ref: string
  readonly properties: JsonObject
}
