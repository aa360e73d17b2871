/**
 * Importing this keeps the AWS SDK from warning that it will leave Node 20 some day: a script of this repository has nothing to
 * do about it. The SDK reads it when the first client is made.
 */
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true'
