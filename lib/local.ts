export type { DynamoDbEmulator } from './local/emulators/dynamodb.js'
export { startDynamoDb } from './local/emulators/dynamodb.js'
export type { Emulator } from './local/emulators/emulator.js'
export { startMessaging } from './local/emulators/messaging.js'
