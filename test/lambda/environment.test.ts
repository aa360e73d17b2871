import { afterEach, describe, expect, it, vi } from 'vitest'
import { busFromEnvironment, dispatchPartsFromEnvironment } from '../../lib/lambda/environment.js'

const environment = {
  POSTDATE_BUS_NAME: 'orders',
  POSTDATE_TABLE_NAME: 'orders-table',
  POSTDATE_TOPIC_ARN: 'arn:aws:sns:eu-west-1:123456789012:orders-topic',
}

afterEach(() => vi.unstubAllEnvs())

describe('the bus of a connected function', () => {
  it('has the name, the table and the durability that the constructs decided', () => {
    const bus = busFromEnvironment({ environment })
    expect(bus.name).toBe('orders')
    expect(bus.persistence).toMatchObject({ name: 'dynamodb:orders-table', durable: true })
  })

  it('reads the environment of its process by default', () => {
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
    expect(busFromEnvironment().name).toBe('orders')
  })

  it('takes nothing back where it is told so', async () => {
    const bus = busFromEnvironment({ environment, recall: false })
    await expect(bus.recallByKey('a')).rejects.toMatchObject({ code: 'recall.switched-off' })
  })

  it.each(Object.keys(environment))('is not made without %s, and the error names it', (variable) => {
    expect(() => busFromEnvironment({ environment: { ...environment, [variable]: undefined } })).toThrowError(
      expect.objectContaining({ code: 'environment.missing-variable', details: { variable } }),
    )
  })
})

describe('the parts of a dispatching function', () => {
  it('are made from the same variables', () => {
    expect(dispatchPartsFromEnvironment(environment)).toMatchObject({
      busName: 'orders',
      tableName: 'orders-table',
      mode: 'second',
      persistence: { name: 'dynamodb:orders-table' },
      transport: { name: 'sns:orders-topic' },
    })
    expect(dispatchPartsFromEnvironment({ ...environment, POSTDATE_MODE: 'minute' }).mode).toBe('minute')
  })

  it('are refused with a mode that there is not', () => {
    expect(() => dispatchPartsFromEnvironment({ ...environment, POSTDATE_MODE: 'hour' })).toThrowError(
      expect.objectContaining({ code: 'environment.invalid-variable' }),
    )
  })

  it('write lines past the console, where Lambda would wrap them', () => {
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
    dispatchPartsFromEnvironment(environment).writeLine('{"_aws":{}}')
    expect(write).toHaveBeenCalledExactlyOnceWith('{"_aws":{}}\n')
    write.mockRestore()
  })
})
