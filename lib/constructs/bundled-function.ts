import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Duration, RemovalPolicy } from 'aws-cdk-lib'
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Architecture, Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda'
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs'
import { Construct } from 'constructs'
import { grantOn } from './permissions.js'
import { refuseProps } from './refuse-props.js'

/** How a function of this package is made. */
export interface BundledFunctionProps {
  readonly description: string
  readonly timeout: Duration
  /** In megabytes. */
  readonly memorySize: number
  readonly logRetention: RetentionDays
  readonly environment?: Readonly<Record<string, string>>
}

/** The folder of bundles lies beside `lib/`, `dist/` and `dist-cjs/`, all of which are as deep. */
const assetsFolder = fileURLToPath(new URL('../../assets', import.meta.url))

/**
 * A function that this package brings along, bundled ahead: on `nodejs24.x` and arm64, with a role and a log group of its
 * own, and no permission but to write that log.
 */
export class BundledFunctionConstruct extends Construct {
  /** The function. */
  readonly function: LambdaFunction

  /** @param asset the name of its folder among the assets */
  constructor(scope: Construct, id: string, asset: string, props: BundledFunctionProps) {
    super(scope, id)
    const { logRetention, ...settings } = props
    const folder = join(assetsFolder, asset)
    if (!existsSync(join(folder, 'index.mjs')))
      throw refuseProps(this, `${folder} holds no bundle; in a checkout, run npm run bundle first`)
    // What a function has logged is not worth keeping without it.
    const logGroup = new LogGroup(this, 'Logs', { retention: logRetention, removalPolicy: RemovalPolicy.DESTROY })
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') })
    grantOn(role, logGroup.logGroupArn, 'logs:CreateLogStream', 'logs:PutLogEvents')
    this.function = new LambdaFunction(this, 'Function', {
      ...settings,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      handler: 'index.handler',
      code: Code.fromAsset(folder),
      role,
      logGroup,
    })
  }
}
