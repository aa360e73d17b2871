import '../quiet-sdk.js'
import { readFlags } from '../read-flags.js'
import { bootShop } from './boot.js'

/** `npm run local`: the example on a local cloud, until Ctrl-C. */

const HELP = `npm run local

  keeps the example up on a local cloud until Ctrl-C, and tells how to place an order`

readFlags(HELP, {})
const print = (text: string) => console.log(text)
const cloud = await bootShop(print, {})
const { OrdersFunctionName: ordersFunction } = cloud.outputs.PostdateExample ?? {}

print(`
The shop is up. Place an order, with a reminder in 5 seconds:

  curl -s ${cloud.endpoint}/2015-03-31/functions/${ordersFunction}/invocations \\
    -d '{"orderId":"42","remind":{"deliverAfter":5000}}'

You get the receipts, with recall handles. Below, the billing function logs "shop/order-placed" at once, and "shop/remind-payment"
five seconds later; "shop/cancel-order" waits for three days. The dispatcher is called every minute, the waker when something is due sooner.

The smoke test of a deployed stack works on this one, too:

  npm run postdate -- smoke --stack PostdateExample --endpoint ${cloud.endpoint}

Ctrl-C ends it; nothing is kept.
`)

let stopping = false
process.on('SIGINT', () => {
  if (stopping) process.exit(130)
  stopping = true
  print('\nStopping …')
  void cloud.stop().then(() => process.exit(0))
})
