import { LocalCloudError } from '../local-error.js'

/** What a resource can be found by. */
export interface Findable {
  readonly logicalId: string
  readonly path: string
  readonly name: string
  readonly arn: string
}

/** `Shop/Orders/Resource` is also found as `Shop/Orders` and as `Orders`. */
const namesOf = ({ logicalId, path, name, arn }: Findable): readonly string[] => {
  const inStack = path.replace(/^[^/]+\//, '')
  return [logicalId, name, arn, ...[path, inStack].flatMap((one) => [one, one.replace(/\/Resource$/, '')])]
}

/** A construct that holds one resource of the kind may be named in its place. */
const isInside = (candidate: Findable, name: string): boolean =>
  namesOf(candidate).some((known) => known.startsWith(`${name}/`))

/**
 * Finds a resource by its logical id, construct path (with or without the stack), physical name or ARN, or by the path
 * of a construct that holds no other of its kind.
 * @throws LocalCloudError `name.unknown`, listing what there is
 */
export const findResource = <T extends Findable>(kind: string, name: string, candidates: readonly T[]): T => {
  const exact = candidates.filter((candidate) => namesOf(candidate).includes(name))
  const found = exact.length > 0 ? exact : candidates.filter((candidate) => isInside(candidate, name))
  const [only] = found
  if (only === undefined || found.length > 1)
    throw new LocalCloudError(
      'name.unknown',
      `${found.length === 0 ? 'there is no' : `there are ${found.length} with the name of the`} ${kind} ${name}`,
      `There are: ${candidates.map(({ path }) => path.replace(/\/Resource$/, '')).join(', ') || 'none'}.`,
    )
  return only
}
