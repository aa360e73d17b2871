/**
 * What the local cloud could not do, with a stable code and what to do about it.
 *
 * | code | meaning |
 * | --- | --- |
 * | `assembly.unreadable` | the folder is no cloud assembly, or a part of it is missing |
 * | `template.unresolvable` | an intrinsic function or a reference that the local cloud can't resolve |
 * | `resource.unknown` | a resource that must act, of a type that the local cloud does not know |
 * | `resource.unknown-property` | a property that the local cloud does not know, and so would not honour |
 * | `resource.invalid` | AWS would refuse to create this resource |
 * | `name.unknown` | no resource has the given logical id, construct path or name |
 * | `call.unknown` | a function called an operation of AWS that the local cloud does not know |
 * | `package.missing` | a package that the local cloud needs is not installed |
 */
export class LocalCloudError extends Error {
  override readonly name = 'LocalCloudError'
  readonly code: LocalCloudErrorCode
  readonly help: string

  constructor(code: LocalCloudErrorCode, message: string, help: string, options?: ErrorOptions) {
    super(`${message}. ${help}`, options)
    this.code = code
    this.help = help
  }
}

/** The codes of `LocalCloudError`. */
export type LocalCloudErrorCode =
  | 'assembly.unreadable'
  | 'template.unresolvable'
  | 'resource.unknown'
  | 'resource.unknown-property'
  | 'resource.invalid'
  | 'name.unknown'
  | 'call.unknown'
  | 'package.missing'
